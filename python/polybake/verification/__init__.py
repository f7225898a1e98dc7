"""The judge: takes every client through a fixture's cases and compares every number."""
