"""Tools that look at model files and vectors: why they differ, how fast, what is in them."""
