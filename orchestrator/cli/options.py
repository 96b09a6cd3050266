"""Options of commands: their types, and their help, which is a sentence of a docstring."""

from __future__ import annotations

import inspect
import re
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast

import typer
from typer.models import ArgumentInfo, OptionInfo

if TYPE_CHECKING:
    from pydantic import BaseModel  # slow to import

REPEATED: Final = "repeated"
"""Annotates a field whose option may be typed several times."""
_ARGUMENTS: Final = "\n\nArgs:\n"
_ARGUMENT: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OptionsOf:
    """Annotates ``**typed`` of a command, which has the fields of a model as options.

    The help of each is the docstring of its field.

    Attributes:
        model: The model; its config has ``use_attribute_docstrings``.
        without: Fields that the command does not have.
        has_defaults: Whether an option that is not typed has the default of its field; else it is None.
    """

    model: type[BaseModel]
    without: Collection[str] = ()
    has_defaults: bool = False

    def list_parameters(self) -> Iterator[inspect.Parameter]:
        """Yields the options as parameters of a function. A field without any help is no option."""
        for name, field in self.model.model_fields.items():
            if name not in self.without and (field.description or field.metadata):
                annotation, default = cast("Any", field.annotation), field.default
                if REPEATED in field.metadata:
                    annotation = GenericAlias(list, annotation)
                if not self.has_defaults:
                    annotation, default = annotation | None, None
                yield _build_parameter(name, annotation, default, field.metadata, field.description)


def build_signature(command: Callable[..., object]) -> inspect.Signature:
    """Returns the signature from which Typer reads the options of a command.

    The help of an option without any is its sentence in the section "Args" of the docstring.
    """
    sentences = {name: " ".join(text.split()) for name, text in _ARGUMENT.findall(_split_help(command)[1])}
    options: list[inspect.Parameter] = []
    for each in inspect.signature(command, eval_str=True).parameters.values():
        metadata: Sequence[object] = getattr(each.annotation, "__metadata__", ())
        groups = [found for found in metadata if isinstance(found, OptionsOf)]
        if each.kind is each.VAR_KEYWORD:
            options += (option for group in groups for option in group.list_parameters())
        else:
            known = each.annotation.__origin__ if metadata else each.annotation
            options.append(
                _build_parameter(each.name, known, each.default, metadata, sentences.get(each.name))
            )
    return inspect.Signature(options)


def read_help(command: Callable[..., object]) -> str:
    """Returns the docstring of a command without its section "Args"."""
    return _split_help(command)[0]


def _split_help(command: Callable[..., object]) -> tuple[str, str]:
    text, _, arguments = (inspect.getdoc(command) or "").partition(_ARGUMENTS)
    return text, arguments


def _build_parameter(
    name: str, annotation: object, default: object, metadata: Sequence[object], sentence: str | None
) -> inspect.Parameter:
    infos = [each for each in metadata if isinstance(each, OptionInfo | ArgumentInfo)]
    # A flag has no negative form, unless it is on by default.
    flag = [f"--{name.replace('_', '-')}"] if default is False else []
    info: Any = copy(infos[0]) if infos else typer.Option(*flag)
    info.help = info.help or sentence
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, info]
    )


def select_typed(typed: Mapping[str, object]) -> dict[str, object]:
    """Returns the options of a group that were typed: the others are None or empty."""
    return {name: value for name, value in typed.items() if value not in (None, [])}


def refuse_dash(path: Path | None) -> Path | None:
    """Refuses ``-``, which would be the name of a file.

    Raises:
        typer.BadParameter: It is ``-``.
    """
    if path == Path("-"):
        raise typer.BadParameter("'-' is not accepted, because this option has a file; give its name")
    return path


_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION: Final = re.compile(r"(?:[0-9]{1,6}(?:\.[0-9]{1,6})?[smhdw])+")


def parse_age(text: str) -> timedelta:
    """Reads a duration with its unit, such as ``12h`` or ``1h30m``.

    Raises:
        typer.BadParameter: It is none.
    """
    if not _DURATION.fullmatch(text):
        raise typer.BadParameter(
            f"{text!r} is not accepted; give a duration with its unit, such as 90s, 5m, 12h or 30d"
        )
    parts = re.findall(r"([0-9.]+)([a-z])", text)
    return sum((timedelta(**{_UNITS[unit]: float(number)}) for number, unit in parts), timedelta())


def parse_seconds(text: str) -> float:
    """Reads a duration above 0 as seconds. A number alone is seconds.

    Raises:
        typer.BadParameter: It is none.
    """
    seconds = parse_age(f"{text}s" if text[-1:].isdigit() else text).total_seconds()
    if not seconds:
        raise typer.BadParameter(f"{text!r} is not accepted; give a time above 0, such as 90s, 5m or 12h")
    return seconds


T = TypeVar("T")
Argument: Final = partial(typer.Argument, show_default=False)
Name = Annotated[T, typer.Option(metavar="NAME")]
Spec = Annotated[T, typer.Option(metavar="SPEC")]
Reason = Annotated[T, typer.Option(metavar="REASON")]
File = Annotated[T, typer.Option(metavar="FILE")]
OutputFile = Annotated[Path | None, typer.Option(metavar="FILE", callback=refuse_dash)]
Files = Annotated[list[Path] | None, Argument(metavar="FILE...")]
Code = Annotated[T, typer.Option(metavar="MODULE:NAME")]
Count = Annotated[T, typer.Option(metavar="N", min=1)]
Number = Annotated[T, typer.Option(metavar="N", min=0)]
Rate = Annotated[float | None, typer.Option(metavar="N", min=0.001)]
Time = Annotated[float | None, typer.Option(metavar="TIME", parser=parse_seconds)]

Task = Annotated[str | None, Argument(help='What to do; "-" reads it from standard input.', metavar="TASK")]
Thread = Annotated[str | None, Argument(help="Name of the run.", metavar="THREAD")]
Last = Annotated[
    bool,
    typer.Option(
        "--last",
        help="Instead of THREAD: the run that was stored last; for `resume`, of those that can be resumed.",
    ),
]
NewThread = Annotated[
    str,
    typer.Option(
        "--thread",
        help="Name of the new run. Default: a generated one.",
        metavar="ID",
        default_factory=lambda: str(uuid.uuid4()),
        show_default=False,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        help="SQLite file or PostgreSQL URL that stores the runs. Default: a file in your data folder.",
        metavar="PATH|URL",
    ),
]
QueueDatabase = Annotated[
    str | None,
    typer.Option(
        help="PostgreSQL URL of the queue, which stores the runs. Default: the variable PEM_QUEUE_DB.",
        metavar="URL",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show each output, its checks, and what the libraries log."),
]
