"""One file per node: read the state, call the agent, return the update."""
