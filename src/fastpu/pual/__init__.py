"""PUAL and GLLC: two costs, and a penalty for neighbours whose scores differ."""
