"""``orchestrator mcp``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from orchestrator.cli import run_options as options
from orchestrator.cli import shared_options as shared
from orchestrator.cli.session.run_session import read_policy
from orchestrator.cli.view.consoles import build_console, print_logs_on, report_bad_input
from orchestrator.errors import ConfigurationError

ReadOnly = Annotated[bool, typer.Option("--read-only", help="Offer neither `run`, `answer` nor `resume`.")]


@options.add_run_options()
def mcp(
    *,
    db: shared.Database = None,
    read_only: ReadOnly = False,
    **typed: Any,  # noqa: ANN401 - of the fields of RunOptions
) -> None:
    """Offer runs and evaluations to a client of the Model Context Protocol, over standard input and output.

    A client starts this command, and ends it by closing its input; runs can be resumed. The options of a run
    hold for the runs that clients start.
    """
    with report_bad_input():
        try:
            from orchestrator.cli.session.mcp_streams import serve_client
        except ImportError as error:
            raise ConfigurationError(
                f"mcp needs the extra [mcp] ({error}); install plan-execute-monitor[mcp]"
            ) from None
        chosen = options.RunOptions.model_validate(options.select_typed(typed))
        read_policy(chosen)
        with print_logs_on(build_console(stderr=True)):
            serve_client(db, chosen, read_only=read_only)
