"""Formats of recorded runs, one in each module; ``known_run_formats`` lists them."""
