"""Turns events, states and questions into text and drawings for a terminal."""
