"""Says which retry policy pays: replay of recorded attempts, search over policies, and the recommendation."""
