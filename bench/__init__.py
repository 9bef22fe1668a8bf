"""Measurements: every script behind a figure in `docs/`."""
