"""Integer arithmetic in a graph whose vectors depend on no batch."""
