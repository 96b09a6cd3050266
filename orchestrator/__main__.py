"""Starts the command line: prepares Ctrl-C and the output streams before the slow imports."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from orchestrator.cli.process_exit import exit_on_signal


def main() -> None:
    """Runs the command line and exits."""
    exit_on_signal()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A result with a character that the terminal's encoding lacks must still be printed.
            stream.reconfigure(errors="replace")
    from orchestrator.cli.app import app  # noqa: PLC0415 - Ctrl-C during this import needs the handler

    app(prog_name="orchestrator")


if __name__ == "__main__":
    main()
