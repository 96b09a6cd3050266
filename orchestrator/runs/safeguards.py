"""The settings that make a run safe: stored with the run, and compared when it is resumed.

The fingerprints of the caller's functions are digests of their code and of the values that they hold.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, cast

from pydantic import BaseModel

from agents.loop.acting_tools import read_acting_tools
from evaluation import EvaluationContract
from evaluation.checks.custom import CustomCheck
from orchestrator.judging.evaluator import EvaluationOptions
from orchestrator.judging.plain_contracts import plain_contract
from orchestrator.replaced_options import REPLACED, describe_argument
from orchestrator.settings import Settings
from orchestrator.state.plain_values import format_repr, format_text, plain_json
from orchestrator.state.records import Json

_HELD: Final = "functions"
SAFEGUARDS: Final = "orchestrator_safeguards"
"""The key of a checkpoint's metadata that has them, as JSON."""
_DEFAULTS: Final[Mapping[str, Json]] = {
    "grounding": "facts",
    "supervision_policy.ask": "always",
    "retry_policy.exhausted": "fail",
}


def describe_safeguards(given: Mapping[str, object], settings: Settings) -> dict[str, Json]:
    """Describes the safeguards of an orchestrator: plain values as they are, the rest by a name or a digest.

    Args:
        given: The arguments of the orchestrator, which are valid.
        settings: Its settings.

    The contract of a task that is derived or a case is stored in the state of the run.
    """
    contract, checks = given.get("contract"), cast("Sequence[CustomCheck]", given.get("checks", ()))
    bounds = settings.budget.model_dump(mode="json", exclude={"prices"}, exclude_none=True)
    supervision = settings.supervision
    values: dict[str, Json] = {
        "acting_tools": describe_acting_tools(given.get("acting_tools")),
        "require": settings.require,
        "grounding": settings.grounding,
        "supervision": None if supervision == "none" else _name(supervision),
        "supervision_policy.ask": settings.supervision_policy.ask,
        "retry_policy.exhausted": settings.retry_policy.exhausted,
        "budget": bounds,
        "checks": [check.name for check in checks],
        "output_type": _name(given.get("output_type")),
        "judge": _name(given.get("judge")),
        "verifier": settings.verifier,
        "contract": _name(contract) if isinstance(contract, EvaluationContract | Mapping) else None,
        "output_contract": _name(given.get("output_contract")),
        "step_contract": _name(given.get("step_contract")),
        _HELD: _fingerprint_functions(given),
    }
    # Each checkpoint has them, so those that nobody has set are left out.
    return {name: value for name, value in values.items() if value and value != _DEFAULTS.get(name)}


_FUNCTIONS: Final = ("step_contract", "output_contract", "output_type", "judge", "supervision")
"""The arguments that may be a function or a class that demands something."""


def _fingerprint_functions(given: Mapping[str, object]) -> dict[str, Json]:
    """Returns the fingerprints of the functions and classes that demand something, by their places."""
    stated = read_acting_tools(given.get("acting_tools")).stated
    evaluation = cast("EvaluationOptions | None", given.get("evaluation"))
    named = () if evaluation is None else evaluation.named_checks
    checks = [*cast("Sequence[CustomCheck]", given.get("checks", ())), *named]
    places = {
        **{f"checks.{check.name}": check for check in checks},
        **{f"acting_tools.{name}": (tool.succeeded, tool.read_back) for name, tool in stated.items()},
        **{name: given.get(name) for name in _FUNCTIONS},
    }
    return {place: fingerprint(value) for place, value in places.items() if _holds_code(value)}


def _holds_code(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(callable, value))
    return callable(value) or isinstance(value, CustomCheck)


def describe_acting_tools(given: object) -> Json:
    """Describes the option ``acting_tools``: the treatment of each tool, with functions by their names."""
    if given is None:
        return None
    stated = read_acting_tools(given).stated
    return {
        name: {
            "approve": tool.approve,
            "repeat": tool.repeat,
            "succeeded": _name(tool.succeeded) if callable(tool.succeeded) else plain_json(tool.succeeded),
            "read_back": _name(tool.read_back),
        }
        for name, tool in stated.items()
    }


def list_changed(stored: object, current: Mapping[str, Json]) -> list[str]:
    """Lists the safeguards of a run that an orchestrator lacks or changes, a sentence each.

    Args:
        stored: The JSON text in the metadata of the run; a run of an earlier version has none.
        current: The safeguards of the orchestrator.
    """
    if not isinstance(stored, str):
        return []
    before, now = {**_DEFAULTS, **json.loads(stored)}, {**_DEFAULTS, **current}
    changed = [name for name, value in before.items() if name != _HELD and now.get(name) != value]
    settings = [
        f"{name} is {_describe_now(name, before[name], now)}, and the run began with "
        f"{format_repr(before[name], 80)}"
        for name in changed
    ]
    held, fingerprints = before.get(_HELD, {}), cast("Mapping[str, str]", now.get(_HELD, {}))
    return settings + [
        f"{place} is a function or a class that does something else than when the run began"
        for place, value in held.items()
        if place.partition(".")[0] not in changed
        and place in fingerprints
        and is_other(value, fingerprints[place])
    ]


def list_doubts(stored: object, current: Mapping[str, Json]) -> list[str]:
    """Lists the functions of which nothing tells whether they are as when the run began, a sentence each."""
    before = json.loads(stored) if isinstance(stored, str) else {}
    held, fingerprints = before.get(_HELD, {}), cast("Mapping[str, str]", current.get(_HELD, {}))
    known = {place: held.get(place) for place in fingerprints if place.partition(".")[0] in before}
    doubts = {place: find_doubt(value, fingerprints[place]) for place, value in known.items()}
    return [
        f"it is not known whether {place} is as when the run began: {doubt}"
        for place, doubt in doubts.items()
        if doubt
    ]


def _describe_now(name: str, before: Json, now: Mapping[str, Json]) -> str:
    if name in REPLACED:  # a run of an earlier version
        return f"no argument any more (write {describe_argument(name, before)})"
    return format_repr(now.get(name), 80)


def _name(value: object) -> str | None:
    """Names a contract by a digest, and other objects by their class or function; a text and None stay."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = EvaluationContract.model_validate(dict(value))
    if isinstance(value, EvaluationContract):
        text = json.dumps(plain_contract(value), sort_keys=True, default=format_text)
        return f"contract {hashlib.md5(text.encode('utf-8', 'replace'), usedforsecurity=False).hexdigest()}"
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


_PLAIN: Final = (
    *(str, bytes, int, float, complex, range, Decimal, date, timedelta, PurePath, Enum, re.Pattern),
    *(type(None), type(Ellipsis)),
)
_LIBRARIES: Final = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")})
_OWN: Final = ("agents", "evaluation", "orchestrator")
_UNKNOWN: Final = "?"
_DEEPEST: Final = 50


def fingerprint(value: object) -> str:
    """Returns a digest of a function or an object with functions.

    It has the version of Python, because the code of a function differs between versions, and the first type
    of a value that cannot be compared.
    """
    parts = [*_walk(value, set(), 0)]
    unknown = next((part for part in parts if part.startswith(_UNKNOWN)), "")
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
    return f"{'.'.join(platform.python_version_tuple()[:2])} {digest} {unknown}".rstrip()


def is_other(before: str, now: str) -> bool:
    """Checks whether a function is another one; False if that is not known."""
    (version, digest, _), (current, other, _) = _split(before), _split(now)
    return version == current and digest != other


def find_doubt(before: object, now: str) -> str | None:
    """Returns why two fingerprints do not tell whether a function is as before; None if they do."""
    if not isinstance(before, str):
        return "an earlier version began the run"
    (version, _, unknown), (current, *_) = _split(before), _split(now)
    if version != current:
        return f"the run began with Python {version}, and this is {current}"
    return f"it holds a {unknown.removeprefix(_UNKNOWN)}" if unknown else None


def _split(fingerprint: str) -> list[str]:
    return [*fingerprint.split(" ", 2), ""][:3]


def _walk(value: object, seen: set[int], depth: int) -> Iterator[str]:
    held = None if depth > _DEEPEST else _list_held(value)
    if isinstance(value, _PLAIN):
        yield f"{type(value).__name__} {value!r}"
    elif held is None:
        yield f"{_UNKNOWN}{type(value).__qualname__}"
    elif id(value) not in seen:
        # A container may be made for the walk alone, and its id used again.
        is_container = isinstance(value, list | tuple | Mapping | Set)
        seen |= set() if is_container else {id(value)}
        yield type(value).__name__
        for part in held:
            yield from _walk(part, seen, depth + 1)


def _list_held(value: object) -> Iterable[object] | None:
    """Lists the parts of a value; None if they cannot be compared."""
    known = next((held for kind, held in _READERS.items() if isinstance(value, kind)), None)
    if known is not None:
        return known(value)
    is_open = hasattr(value, "__dict__") and not _is_of_library(type(value))
    return (type(value), vars(value)) if is_open else None


def _list_of_function(function: FunctionType) -> Iterable[object]:
    cells = function.__closure__ or ()
    held = [cell.cell_contents for cell in cells if cell != CellType()]
    names = [name for name in _list_names(function.__code__) if name in function.__globals__]
    used = [(name, function.__globals__[name]) for name in names]
    followed = [] if _is_of_library(function) else [each for each in used if isinstance(each[1], _FOLLOWED)]
    return (function.__code__, function.__defaults__, function.__kwdefaults__, held, followed)


_FOLLOWED: Final = (*_PLAIN, FunctionType, partial, list, tuple, Mapping, Set, BaseModel)
"""The values of a module that are compared if a function names them; others, such as a log, are left out."""


def _list_names(code: CodeType) -> list[str]:
    nested = [each for each in code.co_consts if isinstance(each, CodeType)]
    return sorted({*code.co_names, *(name for each in nested for name in _list_names(each))})


def _list_of_class(kind: type) -> Iterable[object]:
    name = f"{kind.__module__}.{kind.__qualname__}"
    if _is_of_library(kind) or kind.__module__.split(".")[0] in _OWN:
        return (name,)
    schema = kind.model_json_schema() if issubclass(kind, BaseModel) else None
    methods = [each for each in vars(kind).values() if isinstance(each, _METHODS)]
    return (name, schema, methods, kind.__bases__)


_METHODS: Final = (FunctionType, classmethod, staticmethod, property)


def _is_of_library(value: type | FunctionType) -> bool:
    """Checks whether a class or a function is of Python or of an installed package, and not of ours."""
    module = value.__module__ or ""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    is_builtin = module in sys.builtin_module_names
    return module.split(".")[0] not in _OWN and (is_builtin or file.startswith(_LIBRARIES))


_READERS: Final[Mapping[type, Callable[[Any], Iterable[object]]]] = {
    CodeType: lambda code: (code.co_code, code.co_names, code.co_consts),
    FunctionType: _list_of_function,
    MethodType: lambda method: (method.__func__, method.__self__),
    BuiltinFunctionType: lambda function: (function.__qualname__,),
    ModuleType: lambda module: (module.__name__,),
    classmethod: lambda method: (method.__func__,),
    staticmethod: lambda method: (method.__func__,),
    property: lambda method: (method.fget,),
    partial: lambda call: (call.func, call.args, call.keywords),
    Mapping: lambda values: [*values.items()],
    Set: lambda values: sorted(map(repr, values)),
    list: lambda values: values,
    tuple: lambda values: values,
    type: _list_of_class,
}
