"""Rates, intervals and tests over many runs, without SciPy."""
