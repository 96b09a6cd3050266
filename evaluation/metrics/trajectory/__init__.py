"""Compares the actions of a run with the expected ones: matching, partial credit, diagnosis, metrics."""

from evaluation.metrics.trajectory.expected_steps import expected_steps
from evaluation.metrics.trajectory.matching import match_trajectory

__all__ = ["expected_steps", "match_trajectory"]
