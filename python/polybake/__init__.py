"""polybake: one model file, every language, the same vectors."""

import os

__version__ = "0.1.0"

# ONNX Runtime sends telemetry from the moment it is imported. Source: its docs/Privacy.md.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
