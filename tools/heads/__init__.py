"""Model files with damaged heads, and what every reader says of them: fixtures/heads."""
