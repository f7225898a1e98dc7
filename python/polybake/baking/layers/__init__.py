"""Building blocks of encoders and steps, as onnxscript modules."""
