"""Which tools act, which only read, and whether an answer says that a call acted."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal, TypeAlias, cast, get_args

from agents.loop.tool_answers import name_error, raise_outer
from agents.parsing.loose_json import load_json
from agents.parsing.outcomes import read_outcome
from agents.parsing.tool_names import ToolKind, guess_kind, surely_reads
from agents.reply_types import EffectOutcome

Repeat = Literal["reuse", "ask", "allow"]
Succeeded: TypeAlias = Mapping[str, object] | Callable[[str], bool | None] | None
_log: Final = logging.getLogger(__name__)
Metadata: TypeAlias = Mapping[str, object] | None
_HINTS: Final = frozenset({"readOnlyHint", "destructiveHint", "idempotentHint"})


@dataclass(frozen=True, slots=True)
class ActingTool:
    """How calls of a tool that acts are treated.

    Attributes:
        approve: A person is asked before each call.
        repeat: What happens to an equal call in another attempt of the step, if the earlier one acted:
            "reuse" gives its answer if no other call has acted since, and else asks; "ask" asks a person;
            "allow" makes the call, unless a person has stated the answer of the earlier one. In a later step,
            "reuse" asks, too. Where nobody can be asked, the call is
            not made, and the model is told why. A call in which the process died is asked about in any case.
        succeeded: When an answer means that the call acted: a dict of values at JSON pointers
            (``{"/status": "refunded"}``), or a function of the answer that returns True, False or None; an
            error in it is logged, and counts as None. Default: the words and fields of the answer decide.
        read_back: A tool that only reads, by its name, or a function. It is asked after the call with the
            arguments of the same names, and ``succeeded`` is compared with its answer: it confirms a call
            whose own answer leaves open whether it acted, and one that says otherwise makes it unknown.

    Raises:
        ValueError: A value is not accepted.
    """

    approve: bool = False
    repeat: Repeat = "reuse"
    succeeded: Succeeded = None
    read_back: str | Callable[..., object] | None = None

    def __post_init__(self) -> None:
        """Checks the values."""
        if not isinstance(self.approve, bool):
            raise ValueError(f"approve is {self.approve!r}; give True or False")  # noqa: TRY004 - as the others
        if self.repeat not in get_args(Repeat):
            raise ValueError(f"repeat is {self.repeat!r}; give 'reuse', 'ask' or 'allow'")
        if not (self.read_back is None or isinstance(self.read_back, str) or _is_plain(self.read_back)):
            raise ValueError(
                f"read_back is {self.read_back!r:.80}; give the name of a tool, or a function with def and "
                "without async"
            )
        _check_succeeded(self.succeeded)

    def tell_outcome(self, name: str, answer: str | None, *, is_error: bool = False) -> EffectOutcome:
        """Returns whether a call acted, by its answer: "acted", "refused" or "unknown"."""
        told = read_outcome(name, answer, is_error=is_error)
        if self.succeeded is None or answer is None or is_error:
            return told
        acted = _matches(self.succeeded, answer)
        if acted is True:
            return "acted"
        is_denied = acted is False and callable(self.succeeded)
        return "refused" if is_denied or told == "refused" else "unknown"

    def read_back_outcome(self, outcome: EffectOutcome, answer: str) -> EffectOutcome:
        """Returns the outcome of a call after the answer of ``read_back``, of whatever form.

        It is unknown if ``succeeded`` holds for it and the call was refused, or if it has another value at a
        JSON pointer and the call acted.
        """
        if self.succeeded is not None and _matches(self.succeeded, answer) is True:
            return "acted" if outcome in ("acted", "unknown") else "unknown"
        is_other = isinstance(self.succeeded, Mapping) and _has_other(self.succeeded, answer)
        return "unknown" if is_other and outcome == "acted" else outcome


def tell_error(name: str, error: str) -> EffectOutcome:
    """Returns whether a call acted, by the error that its tool raised: its type, a colon and its text."""
    if error.startswith("NoEffectError:"):
        return "refused"
    # Another error may have come after the effect.
    return read_outcome(name, error, is_error=True) if error.startswith("ToolException:") else "unknown"


ActingToolsOption: TypeAlias = Sequence[str] | Mapping[str, ActingTool] | None
"""Names of tools that act, or their treatment by name; None leaves it to annotations and names."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The use of a tool, as far as it is known before the call.

    Attributes:
        kind: Whether it acts, only reads, or may do either.
        treatment: How its calls are treated; None if it does not act.
        is_stated: Whether the caller or an annotation says so, and not only its name.
        only_reads: Whether it only reads by its annotations, or by a name that leaves no doubt.
    """

    kind: ToolKind = "open"
    treatment: ActingTool | None = None
    is_stated: bool = False
    only_reads: bool = False

    @property
    def is_guessed(self) -> bool:
        """Whether only the name of the tool says that it acts."""
        return self.kind == "acting" and not self.is_stated


@dataclass(frozen=True, slots=True, eq=False)
class ActingTools:
    """The tools that act.

    Attributes:
        stated: Those that the caller names, with their treatment.
        metadata: The metadata of the tools by name, with the annotations of MCP.
        guesses: Whether the name of a tool decides if neither the caller nor an annotation does.
    """

    stated: Mapping[str, ActingTool] = field(default_factory=dict)
    metadata: Mapping[str, Metadata] = field(default_factory=dict)
    guesses: bool = True


@lru_cache(4096)
def describe_tool(acting: ActingTools, name: str) -> ToolUse:
    """Describes a tool: by the caller's word, then by annotations, then by its name."""
    if name in acting.stated:
        return ToolUse("acting", acting.stated[name], is_stated=True)
    hints = acting.metadata.get(name) or {}
    known = _read_annotations(hints)
    if known is None and acting.guesses:
        kind = guess_kind(name)
        return ToolUse(kind, _GUESSED if kind == "acting" else None, only_reads=surely_reads(name))
    if known != "acting":
        return ToolUse(known or "open", is_stated=known is not None, only_reads=known == "reading")
    return ToolUse(known, _GUESSED if hints.get("idempotentHint") is True else DEFAULT, is_stated=True)


def _read_annotations(hints: Mapping[str, object]) -> ToolKind | None:
    # MCP: a destructive tool acts even if it says that it only reads. A second call of a tool that is not
    # idempotent has a second effect.
    if hints.get("readOnlyHint") is False or hints.get("destructiveHint") is True:
        return "acting"
    if hints.get("readOnlyHint") is True:
        return "reading"
    return "acting" if hints.get("idempotentHint") is False else None


def read_annotations(acting: ActingTools, tools: Iterable[object]) -> dict[str, dict[str, bool]]:
    """Returns the annotations of MCP that tools have in their metadata, for tools that ``acting`` lacks."""
    found = {str(getattr(tool, "name", "")): getattr(tool, "metadata", None) or {} for tool in tools}
    hints = {
        name: {hint: value for hint, value in metadata.items() if hint in _HINTS and isinstance(value, bool)}
        for name, metadata in found.items()
        if name not in acting.metadata
    }
    return {name: each for name, each in hints.items() if each}


def add_annotations(acting: ActingTools, annotations: Mapping[str, Metadata]) -> ActingTools:
    """Returns the tools that act with the annotations of tools that it lacks."""
    return replace(acting, metadata={**annotations, **acting.metadata})


def read_acting_tools(given: object, metadata: Mapping[str, Metadata] | None = None) -> ActingTools:
    """Reads the option ``acting_tools``.

    Args:
        given: Names, treatments by name, or None. An empty list turns guesses by names off.
        metadata: The metadata of the tools by name.

    Raises:
        ValueError: It is something else.
    """
    annotated = metadata or {}
    if given is None:
        return ActingTools(metadata=annotated)
    is_list = isinstance(given, Sequence) and not isinstance(given, str)
    if is_list and all(isinstance(name, str) for name in cast("Sequence[object]", given)):
        stated = dict.fromkeys(cast("Sequence[str]", given), DEFAULT)
        return ActingTools(stated, annotated, guesses=bool(stated))
    if isinstance(given, Mapping) and all(isinstance(each, ActingTool) for each in given.values()):
        return ActingTools(dict(given), annotated)
    raise ValueError(
        f"acting_tools is {given!r:.120}; give a list of tool names, or a dict such as "
        "{'refund': ActingTool(approve=True)}"
    )


def _check_succeeded(succeeded: object) -> None:
    keys = [*succeeded] if isinstance(succeeded, Mapping) else []
    has_pointers = bool(keys) and all(isinstance(key, str) and key.startswith("/") for key in keys)
    if not (succeeded is None or callable(succeeded) or has_pointers):
        raise ValueError(
            f"succeeded is {succeeded!r:.80}; give values at JSON pointers such as {{'/status': 'done'}}, "
            "or a function of the answer"
        )


def _is_plain(function: object) -> bool:
    is_function = inspect.isfunction(function) or inspect.ismethod(function)
    return is_function and not inspect.iscoroutinefunction(function)


def _ask(function: Callable[[str], object], answer: str) -> bool | None:
    """Asks a function about an answer; returns None unless it says True or False."""
    try:
        told = function(answer)
    except BaseException as error:  # noqa: BLE001 - the caller's code, and the call has been made
        raise_outer(error)
        _log.warning(
            "succeeded raised %s, so it is not known whether the call acted; mend the function",
            name_error(error),
        )
        return None
    return told if isinstance(told, bool) else None


def _matches(succeeded: Mapping[str, object] | Callable[[str], bool | None], answer: str) -> bool | None:
    if callable(succeeded):
        return _ask(succeeded, answer)
    value = load_json(answer)
    return all(_has_value(value, pointer, wanted) for pointer, wanted in succeeded.items())


def _has_other(succeeded: Mapping[str, object], answer: str) -> bool:
    """Checks whether an answer has another value at one of the JSON pointers."""
    value = load_json(answer)
    return any(
        _find_values(value, pointer) and not _has_value(value, pointer, wanted)
        for pointer, wanted in succeeded.items()
    )


def _has_value(value: object, pointer: str, wanted: object) -> bool:
    # As JSON compares them: 1 is 1.0, and true is not 1.
    values = _find_values(value, pointer)
    return any(isinstance(each, bool) == isinstance(wanted, bool) and each == wanted for each in values)


def _find_values(value: object, pointer: str) -> list[object]:
    """Returns the value at a JSON pointer (RFC 6901) in a list; an empty list if there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return []
    return [value]


DEFAULT: Final = ActingTool()
_GUESSED: Final = ActingTool(repeat="allow")
"""A tool that nobody has named may be called again; the run warns of it."""
