"""Show a graph for `polybake inspect`: shapes, and a picture folded by namespace."""
