"""Reads recorded runs from files of any known format."""
