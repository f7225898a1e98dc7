"""Fewer bits in a graph whose vectors depend on no batch, and back from those that do."""
