"""Judges: over a chat model, in panels, and measured against people."""
