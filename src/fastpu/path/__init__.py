"""Regularisation paths of support vector machines, and exact selection on them."""
