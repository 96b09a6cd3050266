"""Where the process starts: ready for Ctrl-C before the imports, which take seconds."""

from __future__ import annotations

from orchestrator.cli.interruption import end_on_ctrl_c
from orchestrator.cli.view.consoles import accept_any_text


def main() -> None:
    """Run the command line and exit."""
    end_on_ctrl_c()
    accept_any_text()
    from orchestrator.cli.app import app  # noqa: PLC0415 - Ctrl-C within it has to end without a traceback

    app(prog_name="orchestrator")
