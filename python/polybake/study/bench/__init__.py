"""How fast a model file is, and where its time goes."""
