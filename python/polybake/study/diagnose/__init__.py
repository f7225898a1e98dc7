"""Find which known difference explains vectors that are not the model file's own."""
