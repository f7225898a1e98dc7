"""The verbs of the command line. Heavy packages are imported inside each."""
