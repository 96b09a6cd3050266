"""The executor's agent: its graph, the tools that act, and the effects of their calls."""
