"""One module for each command, with a function of its name; ``orchestrator.cli.app`` lists them."""
