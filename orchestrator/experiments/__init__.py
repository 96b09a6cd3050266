"""Evaluates many runs: recorded ones, and cases that are executed."""
