"""AUC by squared losses in closed form."""
