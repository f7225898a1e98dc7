"""Prove a baked graph: against NumPy, in batches, beside padding, after it was lowered."""
