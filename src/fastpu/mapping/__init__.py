"""Mapping convergence: SMC and SVMC."""
