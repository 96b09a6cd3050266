"""Starts, answers, continues, forks, shows and ends runs: for pages, HTTP, MCP and the command line."""
