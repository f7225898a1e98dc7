"""What travels with a model file: other forms of it, its card, its signature."""
