"""``orchestrator serve`` and ``mcp``: the servers of a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer
from pydantic import ValidationError

from evaluation.values import as_list
from orchestrator.cli import options
from orchestrator.cli.consoles import build_console, print_logs_on, report_bad_input, take_streams
from orchestrator.cli.run_options import RunOptions, read_changes
from orchestrator.cli.run_session import build_orchestrator, read_policy
from orchestrator.cli.stored_runs import describe_next, read_stored_options
from orchestrator.cli.task_files import import_tools
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.persistence import Store, open_store
from orchestrator.serving import NewRun
from orchestrator.state.records import Question


@dataclass(frozen=True, slots=True)
class ServedRuns:
    """Builds orchestrators over a store.

    Attributes:
        store: The store, for reading.
        where: Its path or URL, as it was given.
        options: The options of new runs. Its tools are the only code that a stored run may name.
    """

    store: Store
    where: str | None
    options: RunOptions

    @property
    def has_tools(self) -> bool:
        """Whether a new run has tools."""
        return bool(self.options.tools)

    @contextmanager
    def open_new(self, run: NewRun) -> Iterator[LangGraphOrchestrator]:
        """Builds the orchestrator of a new run; see ``RunBuilder``."""
        given = run.model_dump(exclude={"task", "thread_id"}, exclude_none=True)
        with self._open(self.options.model_copy(update=given)) as orchestrator:
            yield orchestrator

    @contextmanager
    def open_stored(self, thread_id: str) -> Iterator[LangGraphOrchestrator]:
        """Builds the orchestrator that continues a run; see ``RunBuilder``."""
        with self._open(self._read_options(thread_id)) as orchestrator:
            yield orchestrator

    def find_problem(self, thread_id: str) -> str | None:
        """Returns why a run cannot be continued here; see ``RunBuilder``."""
        try:
            self._read_options(thread_id)
        except (ConfigurationError, StoreError) as error:
            return str(error)
        return None

    def describe_next(self, thread_id: str, question: Question | None) -> str:  # noqa: ARG002
        """Returns what continues a run elsewhere; see ``RunBuilder``."""
        return describe_next(self.store, thread_id)

    def _read_options(self, thread_id: str) -> RunOptions:
        tools = as_list((self.store.history.command(thread_id) or {}).get("tools"))
        is_served = bool(tools) and all(name in self.options.tools for name in tools)
        return read_stored_options(self.store, thread_id, {"tools": tools} if is_served else {})

    @contextmanager
    def _open(self, options: RunOptions) -> Iterator[LangGraphOrchestrator]:
        # A store of its own: each checkpoint of a run has the options of that run.
        with open_store(self.where) as store:
            store.keep(options.model_dump(exclude_defaults=True))
            yield build_orchestrator(options, store, tools=import_tools(options.tools))


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
            run_server(store, ServedRuns(store, db, chosen), reach, port, partial(typer.echo, err=True))


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
                runs = ServedRuns(store, db, chosen)
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
