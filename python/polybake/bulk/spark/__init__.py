"""What executors of a Spark cluster call."""
