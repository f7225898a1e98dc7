"""What several tests share: running commands, comparing, serving."""
