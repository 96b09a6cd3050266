"""The command line: what is typed becomes a run, what happens becomes words."""

from orchestrator.cli.entry import main

__all__ = ["main"]
