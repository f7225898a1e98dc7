"""What a client is asked, and how its answers are judged."""
