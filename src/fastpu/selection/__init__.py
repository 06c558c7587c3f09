"""The choice of parameters by held-out rows: `fastpu.select`."""
