"""The network of the paper, defined once, in PyTorch."""
