"""Reads what users type: options, texts, durations, and the names of runs, models and tools."""
