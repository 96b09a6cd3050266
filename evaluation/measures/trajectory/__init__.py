"""Compares the actions of a run with the expected ones: matching, partial credit, diagnosis, metrics."""
