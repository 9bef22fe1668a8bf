"""Parsing: scorers, batches and the parser; no PyTorch."""
