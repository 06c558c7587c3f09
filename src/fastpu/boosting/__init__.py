"""Boosted stumps and boosted trees."""
