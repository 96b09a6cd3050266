"""Writes the grammar of the texts that meet the checks of a form, for a server that writes by a grammar."""
