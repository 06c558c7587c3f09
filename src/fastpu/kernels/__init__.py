"""Kernels as arguments, Gaussian basis functions, and functions that are sums of kernels."""
