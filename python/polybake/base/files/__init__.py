"""What comes from outside: model folders, names, texts; and files written whole or not at all."""
