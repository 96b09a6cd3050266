"""Fakes, one module per protocol: plain objects that answer from a script and record their calls."""
