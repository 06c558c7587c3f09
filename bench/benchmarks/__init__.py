"""One module per kernel, as in `src/fastpu`; data and sizes are in `common`."""
