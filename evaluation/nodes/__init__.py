"""The nodes of the evaluation graph, by what they are about."""
