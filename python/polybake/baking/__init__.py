"""From an encoder and its steps to one model file."""
