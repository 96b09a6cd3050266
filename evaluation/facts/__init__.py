"""Compares the facts of an output with the facts of its reference and of its sources."""
