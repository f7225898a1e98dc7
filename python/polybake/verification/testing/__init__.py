"""Golden cases and verdicts as tests of pytest. The plugin imports nothing before it is used."""
