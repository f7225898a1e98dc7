"""What every wing stands on: files from outside, the format of model files, files of texts."""
