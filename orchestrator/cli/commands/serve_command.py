"""``orchestrator serve``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from orchestrator.cli import run_options as options
from orchestrator.cli import shared_options as shared
from orchestrator.cli.session.run_session import read_policy
from orchestrator.cli.session.task_files import import_tools
from orchestrator.cli.view.consoles import build_console, print_logs_on, report_bad_input
from orchestrator.errors import ConfigurationError

Host = Annotated[str, typer.Option(help="Listen on this address.", metavar="ADDRESS")]
Port = Annotated[int, typer.Option(help="Listen on this port; 0 for any free one.", min=0, max=65535)]
Token = Annotated[
    str | None,
    typer.Option(
        help="What a client has to give, at least 16 characters; needed unless only this machine can reach "
        "the address.",
        envvar="PEM_SERVE_TOKEN",
        metavar="TEXT",
    ),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Refuse every change.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(help="A further name by which clients reach the server (repeatable).", metavar="NAME"),
]


@options.add_run_options()
def serve(
    *,
    db: shared.Database = None,
    host: Host = "127.0.0.1",
    port: Port = 8321,
    token: Token = None,
    read_only: ReadOnly = False,
    allow_host: AllowHost = None,
    **typed: Any,  # noqa: ANN401 - of the fields of RunOptions
) -> None:
    """Show the runs in a browser, answer their questions there, and start runs.

    The options of a run hold for the runs that are started from the page. Ctrl-C interrupts the runs;
    they can be resumed.
    """
    with report_bad_input():
        try:
            from orchestrator.cli.session.web_server import run_server
        except ImportError as error:
            raise ConfigurationError(
                f"serve needs the extra [serve] ({error}); install plan-execute-monitor[serve]"
            ) from None
        chosen = options.RunOptions.model_validate(options.select_typed(typed))
        read_policy(chosen)
        import_tools(chosen.tools)
        reach = {
            "host": host,
            "token": token,
            "read_only": read_only,
            "allowed_hosts": tuple(allow_host or ()),
        }
        with print_logs_on(build_console(stderr=True)):
            run_server(db, chosen, reach, port)
