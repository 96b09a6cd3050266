"""Agreement, rates, intervals and tests over many runs; SciPy, where it is needed, is an extra."""
