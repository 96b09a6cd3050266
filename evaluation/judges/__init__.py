"""Judges: over a chat model, in panels, cached, and calibrated against people."""
