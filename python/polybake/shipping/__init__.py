"""What is shipped with a model file: other formats, its card and its signature."""
