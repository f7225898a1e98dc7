"""Texts that nobody thought of: what clients make of them beside the core, and the smallest."""
