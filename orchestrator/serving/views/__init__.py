"""Chooses what pages and programs see of stored runs: pure functions of the history."""
