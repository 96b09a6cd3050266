"""Contracts from the task: derives the checks that a task and its steps state."""
