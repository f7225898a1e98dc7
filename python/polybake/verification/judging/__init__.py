"""The requests to a client, and the judgement of its answers."""
