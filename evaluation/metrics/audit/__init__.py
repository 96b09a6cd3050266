"""Checks a run against audit rules, and for credentials and personal data."""
