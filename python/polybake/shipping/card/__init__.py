"""What a model file says of itself: a model card, and a bill of materials."""
