"""The tools of the executor: what their annotations say, and which of them a contract names."""
