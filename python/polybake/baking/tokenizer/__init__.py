"""Tokenizers that give every language the same ids: read, built, limited."""
