"""Signatures of model files."""
