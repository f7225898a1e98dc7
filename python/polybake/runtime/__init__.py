"""Run a model as every client does."""
