"""What is shipped with a model file: Triton's repository, its card, and its place in a store."""
