"""Raw text to sentences and words, on numpy and ONNX Runtime."""
