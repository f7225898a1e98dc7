"""polybake: one model file, every language, the same vectors."""

__version__ = "0.1.0"
