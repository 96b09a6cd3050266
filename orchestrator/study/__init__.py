"""Runs many tasks: evaluates recorded runs and cases, compares models, searches for a retry policy."""
