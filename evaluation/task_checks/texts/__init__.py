"""Tells the request of a task from texts that are given with it, and from what a question is about."""
