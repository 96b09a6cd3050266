"""Tells the request of a task from given texts, and from the subject of a question."""
