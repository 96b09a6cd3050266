"""Reads texts as people see them: normal forms, disguises, numbers, JSON in prose."""
