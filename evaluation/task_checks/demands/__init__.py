"""What a sentence demands of the output, as against what it only mentions, allows or demands of others."""
