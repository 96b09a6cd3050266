"""``orchestrator doctor``: what this machine has, and what to do where something is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import typer
from rich.text import Text

from orchestrator.cli.diagnosis import Diagnosis, Embedded, Ollama, OpenAICompatible, diagnose
from orchestrator.cli.exits import unwritten_exits
from orchestrator.cli.statuses import FAILED
from orchestrator.cli.view.consoles import logs_on, progress_console, result_console
from orchestrator.cli.view.document import as_json
from orchestrator.cli.view.text import one_line

_MEGABYTE: Final = 1_000_000
_NOTHING_USABLE: Final = (
    "No model can be used. Mend the embedded model as said above, or start Ollama with `ollama serve` and "
    "get a model with `ollama pull llama3.2`, or set OPENAI_API_KEY."
)
_NAMES_SHOWN: Final = 5


def examine(*, json: bool) -> None:
    """Look around, print what was found and exit.

    Raises:
        typer.Exit: No model can be used.
    """
    with logs_on(progress_console()):
        found = diagnose()
    with unwritten_exits():
        _report(found, json=json)
    if not found.usable:
        raise typer.Exit(FAILED)


def _report(found: Diagnosis, *, json: bool) -> None:
    if json:
        typer.echo(as_json(found.model_dump()).encode())
    else:
        result_console().print(describe(found))


def describe(found: Diagnosis) -> Text:
    """What was found, in words."""
    return Text("\n").join([*_rows(found), Text(), _verdict(found)])


def _rows(found: Diagnosis) -> Iterator[Text]:
    yield _row("Python", f"{found.python} on {found.platform}", good=True)
    for package, installed in found.versions.items():
        yield _row(package, installed or "not installed", good=installed is not None)
    yield _row("embedded model", _embedded(found.embedded), good=found.embedded.ready)
    yield _row("Ollama", _ollama(found.ollama), good=bool(found.ollama.models))
    yield _row("OpenAI-compatible", _openai(found.openai), good=_configured(found.openai))


def _row(name: str, text: str, *, good: bool) -> Text:
    mark = ("ok ", "green") if good else ("-  ", "yellow")
    return Text.assemble(mark, (f"{name}: ", "bold"), one_line(text))


def _embedded(embedded: Embedded) -> str:
    if embedded.size_bytes is None:
        return embedded.problem or "not found"
    where = f"{embedded.path} ({embedded.size_bytes / _MEGABYTE:.0f} MB, from the {embedded.origin})"
    return where if embedded.problem is None else f"{where}: {embedded.problem}"


def _ollama(ollama: Ollama) -> str:
    if not ollama.answers:
        return f"no server answers at {ollama.host}; start one with `ollama serve`, or set OLLAMA_HOST"
    if not ollama.models:
        return f"{ollama.host} answers and has no model; get one with `ollama pull llama3.2`"
    return f"{ollama.host} answers and has {_some(ollama.models)}"


def _openai(openai: OpenAICompatible) -> str:
    key, url = ("set" if there else "not set" for there in (openai.api_key_set, openai.base_url_set))
    return f"OPENAI_API_KEY is {key}, OPENAI_BASE_URL is {url}"


def _configured(openai: OpenAICompatible) -> bool:
    return openai.api_key_set or openai.base_url_set


def _verdict(found: Diagnosis) -> Text:
    if not found.usable:
        return Text(_NOTHING_USABLE, style="red")
    return Text(f"Ready to run with --model {_some(found.usable)}", style="green")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return shown if more <= 0 else f"{shown} and {more} more"
