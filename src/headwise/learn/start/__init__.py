"""Starting from a trained model: its vocabulary, its weights, and what it is not to forget."""
