"""Judges: over a chat model, in panels, and calibrated against people."""
