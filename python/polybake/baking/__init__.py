"""Bake an encoder and its steps into one model file."""
