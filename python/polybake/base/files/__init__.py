"""Files and names from outside, and files that are written whole or not at all."""
