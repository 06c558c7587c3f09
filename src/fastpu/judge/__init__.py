"""Criteria, class priors, splits and the choice of parameters."""
