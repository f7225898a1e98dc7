"""Embed a large file of texts, in steps that survive the end of the process."""
