"""The command line: parses options, runs an orchestrator and prints what happens."""
