"""What stands behind the encoder of a checkpoint that was trained for a task."""
