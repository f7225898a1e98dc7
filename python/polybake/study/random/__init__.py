"""Compare clients with the core on random texts, and find the smallest call that fails."""
