"""A model file in the forms that other runtimes and servers take."""
