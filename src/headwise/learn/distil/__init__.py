"""Learning from the distributions of trained models."""
