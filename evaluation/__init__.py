"""Measures recorded runs of agents; imports neither of the other two packages."""
