"""Risks estimated without negatives: uPU and nnPU."""
