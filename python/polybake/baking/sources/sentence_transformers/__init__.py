"""A folder that sentence-transformers saved."""
