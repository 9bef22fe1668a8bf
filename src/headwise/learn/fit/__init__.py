"""Training: steps, epochs, phases and checkpoints."""
