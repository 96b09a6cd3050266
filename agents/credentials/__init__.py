"""Finds credentials: keys and tokens by their form, and any secret by its context."""
