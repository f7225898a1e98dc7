"""Functions for the executors of a Spark cluster."""
