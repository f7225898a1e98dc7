"""The known ways in which other programs depart from a model file's own, each stage a file."""
