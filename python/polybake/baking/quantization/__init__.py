"""Quantize graphs to float16, int8 or int4; a text's vector depends on no other text."""
