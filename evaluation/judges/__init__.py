"""Judges: over a chat model, of several, cached, and how far they agree with people."""
