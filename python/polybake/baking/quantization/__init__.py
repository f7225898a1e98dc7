"""Fewer bits for graphs, without dependence on the batch, and the way back to float32."""
