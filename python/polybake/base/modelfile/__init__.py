"""The format of model files, read and written without ONNX."""
