"""Turn the step tables of a polybake.toml into steps."""
