"""Formats of recorded runs, one in each module; ``run_files`` lists them."""
