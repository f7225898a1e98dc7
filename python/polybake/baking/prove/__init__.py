"""Prove a baked graph: against NumPy, in batches, under padding, and after it was lowered."""
