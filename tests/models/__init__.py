"""Tiny models that tests bake, open and compare."""
