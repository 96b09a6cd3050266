"""The nodes of the evaluation graph, one file each."""
