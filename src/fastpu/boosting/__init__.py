"""Boosted stumps."""
