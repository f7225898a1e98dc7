"""Any ONNX graph: read, checked, changed and written."""
