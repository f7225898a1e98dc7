"""What workers of a Ray cluster call."""
