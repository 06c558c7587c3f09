"""Several models in one: candidates, folds and weights. `fastpu.fit_ensemble`."""
