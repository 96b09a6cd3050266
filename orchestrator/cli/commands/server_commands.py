"""``orchestrator serve`` and ``mcp``: the servers of a store."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer
from pydantic import ValidationError

from orchestrator.cli import options
from orchestrator.cli.consoles import build_console, print_logs_on, report_bad_input, take_streams
from orchestrator.cli.option_runs import OptionRuns, read_policy
from orchestrator.cli.run_options import RunOptions, read_changes
from orchestrator.cli.task_files import import_tools
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import open_store


def serve(
    *,
    db: options.Database = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8321,
    token: Annotated[str | None, typer.Option(envvar="PEM_SERVE_TOKEN", metavar="TEXT")] = None,
    read_only: bool = False,
    allow_host: options.Name[list[str] | None] = None,
    **typed: Annotated[object, options.OptionsOf(RunOptions)],
) -> None:
    """Show the runs in a browser, answer their questions there, and start runs.

    The options of a run hold for the runs that are started from the page. Ctrl-C interrupts the runs;
    they can be resumed.

    Args:
        host: Listen on this address.
        port: Listen on this port; 0 for any free one.
        token: What a client has to give, at least 16 characters; needed unless only this machine can
            reach the address.
        read_only: Refuse every change.
        allow_host: A further name by which clients reach the server (repeatable).
    """
    with report_bad_input(), print_logs_on(build_console(stderr=True)):
        try:
            from orchestrator.serving.request_guard import ServerOptions
            from orchestrator.serving.web_app import run_server
        except ImportError as error:
            raise _name_extra("serve", error) from None
        chosen, hosts = _read_options(typed), tuple(allow_host or ())
        try:
            reach = ServerOptions(host=host, token=token, read_only=read_only, allowed_hosts=hosts)
        except ValidationError as error:
            (detail, *_) = error.errors()
            name = f"--{detail['loc'][0]}: " if detail["loc"] else ""
            raise ConfigurationError(f"{name}{detail['msg'].removeprefix('Value error, ')}") from None
        with open_store(db, make=not read_only) as store:
            run_server(store, OptionRuns(store, db, chosen), reach, port, partial(typer.echo, err=True))


def mcp(
    *,
    db: options.Database = None,
    read_only: bool = False,
    **typed: Annotated[object, options.OptionsOf(RunOptions)],
) -> None:
    """Offer runs and evaluations to a client of the Model Context Protocol, over standard input and output.

    A client starts this command, and ends it by closing its input; runs can be resumed. The options of a run
    hold for the runs that clients start.

    Args:
        read_only: Offer neither `run`, `answer` nor `resume`.
    """
    with report_bad_input(), print_logs_on(build_console(stderr=True)):
        try:
            from orchestrator.serving.mcp_server import build_mcp_server
        except ImportError as error:
            raise _name_extra("mcp", error) from None
        # A tool or a model that prints would break the messages of the protocol.
        with take_streams() as (received, sent):
            chosen = _read_options(typed)
            with open_store(db, make=not read_only) as store:
                runs = OptionRuns(store, db, chosen)
                build_mcp_server(store, runs, read_only=read_only).serve(received, sent)


def _read_options(typed: dict[str, object]) -> RunOptions:
    """Reads the options of new runs, before a wrong one creates a store."""
    chosen = RunOptions.model_validate(read_changes(typed))
    read_policy(chosen)
    import_tools(chosen.tools)
    return chosen


def _name_extra(name: str, error: ImportError) -> ConfigurationError:
    return ConfigurationError(
        f"{name} needs the extra [{name}] ({error}); install plan-execute-monitor[{name}]"
    )
