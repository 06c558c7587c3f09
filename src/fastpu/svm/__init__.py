"""Support vector machines: the solver, and the machines on it."""
