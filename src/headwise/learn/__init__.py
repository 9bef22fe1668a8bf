"""Learning, Eq. 1-7: the only part of headwise that imports PyTorch."""
