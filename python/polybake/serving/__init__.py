"""A service that answers by model files, in the schemas that clients already speak."""
