"""What travels with a model file: who stands for it, and what it is made of."""
