"""Functions for the workers of a Ray cluster."""
