"""A client's harness: prepared, started, asked, and ended."""
