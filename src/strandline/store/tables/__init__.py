"""Rows and model values, one file a noun, once for every database."""
