"""What every fitted model is: scores, thresholds, probabilities, files."""
