"""Prove a baked graph: against NumPy, in batches, under padding, and in its precision."""
