"""Documents about a model file: a model card, and a bill of materials."""
