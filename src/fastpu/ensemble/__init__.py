"""Ensembles: several methods in one model, weighted by how well they rank held-out rows."""
