"""The format: what a model file holds, read and written without ONNX."""
