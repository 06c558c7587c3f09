"""PU forests: trees on bags of all positive and a few unlabelled rows."""
