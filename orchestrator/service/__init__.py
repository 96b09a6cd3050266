"""Starts, answers, continues, forks, shows and ends runs: for pages, HTTP and the command line."""
