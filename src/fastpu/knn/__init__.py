"""Nearest neighbours, and the similarity matrix that they make."""
