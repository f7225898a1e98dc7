"""An existing ``.onnx`` encoder."""
