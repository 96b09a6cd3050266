"""Contradictions between the deeds and the words of a run: rules on calls, claims and facts."""
