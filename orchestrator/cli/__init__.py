"""The command line: what is typed becomes a run, what happens becomes words."""

from orchestrator.cli.app import app, main

__all__ = ["app", "main"]
