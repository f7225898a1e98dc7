"""The known differences of other programs from a model file; each stage has a module."""
