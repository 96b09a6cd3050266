"""Derives checks from the text of a task, without a model."""
