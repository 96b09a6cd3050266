"""Agreement, rates, intervals and tests over many runs. SciPy is an optional extra."""
