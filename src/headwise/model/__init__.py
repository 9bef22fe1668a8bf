"""The light runtime: a model folder and the scorer that runs it, without PyTorch."""
