"""The command line: turns typed options into runs, and events into text."""
