"""Finds credentials and personal data in texts and JSON values."""
