"""What `polybake inspect` shows of a graph: shapes, and a picture folded by namespace."""
