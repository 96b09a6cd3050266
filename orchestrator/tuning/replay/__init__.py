"""What other policies would have given on recorded runs: pure, without a model call."""
