"""Measurements: every script behind a number in `docs/`."""
