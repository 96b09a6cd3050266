"""From what a caller hands in to a checked case, or to the list of what is wrong with it.

Whatever is given, nothing is raised for it: data is wrong by path, never by exception.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

from evaluation.inputs.contract import EvaluationCase
from evaluation.inputs.run import MEASURES
from evaluation.sensitive.json_values import encode_json
from evaluation.values import JsonObject, as_object


def metadata_places(plain: JsonObject) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield what describes the run, with the path of its place."""
    run = as_object(plain.get("agent_run"))
    yield "agent_run", {name: value for name, value in run.items() if name in MEASURES and value is not None}
    yield "agent_run.metadata", as_object(run.get("metadata"))
    yield "run_metadata", as_object(plain.get("run_metadata"))


def merge_metadata(plain: JsonObject) -> dict[str, object]:
    """Join the places; what is null counts as absent."""
    found: dict[str, object] = {}
    for _, values in metadata_places(plain):
        found.update({name: value for name, value in values.items() if value is not None})
    return found


def find_conflicts(plain: JsonObject) -> list[str]:
    """Name each quantity that two places state differently."""
    seen: dict[str, tuple[str, object]] = {}
    problems = []
    for place, values in metadata_places(plain):
        for name, value in values.items():
            first, known = seen.setdefault(name, (place, value))
            if known != value and value is not None:
                problems.append(f"{place}.{name}: differs from {first}.{name}; give it once")
    return problems


MAX_DEPTH: Final = 100
"""Levels of nesting that a case may have."""
MAX_PROBLEMS: Final = 50
"""Problems that are listed; what is beyond is counted."""
_NESTING: Final = (dict, list)
_MAX_BITS: Final = 4096
_LONGEST_NAME: Final = 200
_PATH_PARTS: Final = 12
_PATH_PART: Final = 60


@dataclass(frozen=True, slots=True)
class AcceptedCase:
    """A case that can be evaluated, as a model and as the plain JSON it was read from."""

    case: EvaluationCase
    plain: dict[str, object]
    text: bytes
    """The same as JSON in UTF-8."""


@dataclass(frozen=True, slots=True)
class RefusedCase:
    """A case that cannot be evaluated, with each problem by its path."""

    problems: tuple[str, ...]
    case_id: str | None = None


@dataclass(frozen=True, slots=True)
class UnreadableCase:
    """Stands for a case that could not even be read, with its place; ``evaluate`` finds it invalid."""

    where: str
    problem: str


@dataclass(frozen=True, slots=True)
class CaseWithBaseline:
    """A case with what it is compared with, in place of its own ``baseline_metrics``."""

    case: object
    baseline: object


def read_case(given: object) -> AcceptedCase | RefusedCase:
    """Check a case: an object in the document's shape, or an ``EvaluationCase``.

    What is accepted shares nothing with what was given.
    """
    if isinstance(given, UnreadableCase):
        return RefusedCase((f"{given.where}: {given.problem}",), given.where)
    try:
        value = _plain(given)
        copy = _copied(value) or _not_json(value)
    except Exception as error:  # noqa: BLE001 - an object of the caller's own class may raise anything
        return RefusedCase((f"case: reading it failed with {type(error).__name__}",))
    return copy if isinstance(copy, RefusedCase) else _accepted(copy)


def _accepted(copy: _Copy) -> AcceptedCase | RefusedCase:
    try:
        case = _case(copy.plain)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        problems = [f"{_path(part['loc'])}: {part['msg']}" for part in found]
        return RefusedCase(_bounded(problems), _case_id(copy.plain))
    plain = cast("dict[str, object]", copy.plain)
    twice = find_conflicts(plain)
    return RefusedCase(_bounded(twice), case.case_id) if twice else AcceptedCase(case, plain, copy.text)


def _case_id(value: object) -> str | None:
    """Give the name of a case that is wrong elsewhere."""
    name = value.get("case_id") if isinstance(value, Mapping) else None
    return name[:_LONGEST_NAME] if isinstance(name, str) else None


class _Copy(NamedTuple):
    plain: object
    text: bytes


def _copied(value: object) -> _Copy | None:
    """Copy a value by way of its JSON text; None where it cannot be, or is nested too deep."""
    try:
        text = to_json(value, inf_nan_mode="null")
        plain: object = from_json(text, cache_strings="keys")
    except (ValueError, RecursionError):
        return _rewritten(value)
    if plain != value:  # this writer is several times as fast as the strict one, and takes dates and sets too
        return _rewritten(value)
    deep = text.count(b"{") + text.count(b"[") > MAX_DEPTH and _depth(plain) > MAX_DEPTH
    return None if deep else _Copy(plain, text)


def _rewritten(value: object) -> _Copy | None:
    try:
        text = json.dumps(value, allow_nan=False, default=_as_object)
        plain: object = json.loads(_without_surrogates(text) if "\\ud" in text else text)
    except (TypeError, ValueError, RecursionError):
        return None
    return _Copy(plain, encode_json(plain)) if _depth(plain) <= MAX_DEPTH else None


def _as_object(value: object) -> dict[object, object]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def _case(plain: object) -> EvaluationCase:
    """Check plain JSON.

    Raises:
        ValidationError: It is no case; in JSON's words (object, array), which only the reader of text uses.
    """
    try:
        return EvaluationCase.model_validate(plain)
    except ValidationError:
        return EvaluationCase.model_validate_json(json.dumps(plain))


def _not_json(value: object) -> RefusedCase:
    problems = _bounded(list(islice(_odd_values(value), 10 * MAX_PROBLEMS)))
    return RefusedCase(problems or ("the case cannot be written as JSON",), _case_id(value))


def _plain(given: object) -> object:
    """Write models out; those that a plain object holds too."""
    if isinstance(given, CaseWithBaseline):
        case = _plain(given.case)
        baseline = {"baseline_metrics": _plain(given.baseline)}
        return {**case, **baseline} if isinstance(case, Mapping) else case
    if isinstance(given, BaseModel):
        return given.model_dump(exclude_unset=True, warnings=False)
    if isinstance(given, Mapping) and any(isinstance(value, BaseModel) for value in given.values()):
        return {key: _plain(value) for key, value in given.items()}
    return given


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 text can hold."""
    value = json.loads(text)
    return json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()


def _depth(plain: object) -> int:
    """Count the levels of nesting; more than ``MAX_DEPTH`` are not counted on."""
    level, depth = [plain] if isinstance(plain, _NESTING) else [], 0
    while level and depth <= MAX_DEPTH:
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [part for parts in inner for part in parts if isinstance(part, _NESTING)]
        depth += 1
    return depth


def _parts(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, Mapping):
        yield from ((str(key), part) for key, part in value.items())
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def _odd_values(root: object) -> Iterator[str]:
    """Name what is no JSON, by its path; a value met again inside itself is not entered."""
    waiting: list[tuple[tuple[str | int, ...], object, frozenset[int]]] = [((), root, frozenset())]
    while waiting:
        path, value, inside = waiting.pop()
        wrong = "a value that holds itself" if id(value) in inside else _oddness(value, len(path))
        if wrong is not None:
            yield f"{_path(path)}: {wrong}"
            continue
        entered = inside | {id(value)}
        parts = [((*path, key), part, entered) for key, part in _parts(value)]
        waiting.extend(reversed(parts))


def _oddness(value: object, depth: int) -> str | None:
    if depth >= MAX_DEPTH and isinstance(value, Mapping | list | tuple):
        return f"more than {MAX_DEPTH} levels of nesting"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is no JSON number; leave the field out where the value is not known"
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return f"an integer of {value.bit_length()} bits; {_MAX_BITS} are accepted"
    if value is None or isinstance(value, str | bool | int | float | Mapping | list | tuple):
        return None
    return f"{type(value).__name__} is no JSON value"


def _path(parts: tuple[str | int, ...]) -> str:
    """Write a path as code does: agent_run.tool_calls[2].args; the middle of a long one is left out."""
    shown = parts if len(parts) <= _PATH_PARTS else (*parts[:_PATH_PARTS], "...")
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:_PATH_PART]}" for part in shown)
    return text.removeprefix(".") or "case"


def _bounded(problems: list[str]) -> tuple[str, ...]:
    more = len(problems) - MAX_PROBLEMS
    return (*problems[:MAX_PROBLEMS], *([f"and {more} more problems"] if more > 0 else []))
