"""From a trained network to ONNX graphs and a model folder."""
