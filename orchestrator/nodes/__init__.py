"""The nodes of a run: read the state, call the agent, return the update."""
