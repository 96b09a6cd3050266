"""Reads recorded messages of any format."""
