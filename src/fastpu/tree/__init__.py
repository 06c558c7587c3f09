"""Trees as models: nodes in arrays, for forests and for boosting."""
