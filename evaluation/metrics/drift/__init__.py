"""Compares a run with earlier runs."""
