"""What `make bench` measures; data and sizes are in `common`."""
