"""Rows and labels: what users pass, checked and brought into the form that the core reads."""
