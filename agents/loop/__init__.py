"""The executor's agent: its graph, the tools that act, and what is known of each of their calls."""
