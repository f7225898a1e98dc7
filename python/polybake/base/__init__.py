"""The base of all other packages: files from outside, model files, and files of texts."""
