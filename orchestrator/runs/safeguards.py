"""The settings that make a run safe: stored with the run, and compared when it is resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import CodeType, FunctionType
from typing import Final, cast

from agents.loop.acting_tools import read_acting_tools
from evaluation import EvaluationContract
from evaluation.checks.custom import FunctionCheck
from evaluation.contract.requirements import Contract
from orchestrator.settings import Settings
from orchestrator.state.plain_values import format_repr, format_text, plain_json
from orchestrator.state.records import Json

SAFEGUARDS: Final = "orchestrator_safeguards"
"""The key of a checkpoint's metadata that has them, as JSON."""
_DEFAULTS: Final[Mapping[str, Json]] = {
    "grounding": "facts",
    "retry_policy.exhausted": "fail",
}
_PLAIN: Final = (str, bytes, int, float, type(None), tuple, frozenset)
_BY_NAME: Final = ("output_type", "judge", "step_contract")
"""The arguments that are compared by a name or a digest."""


def describe_safeguards(given: Mapping[str, object], settings: Settings) -> dict[str, Json]:
    """Describes the safeguards of an orchestrator: plain values as they are, the rest by a name or a digest.

    Args:
        given: The arguments of the orchestrator, which are valid.
        settings: Its settings.

    The contract of a task that is derived or a case is stored in the state of the run.
    """
    options = settings.options
    tools, contract = read_acting_tools(given.get("acting_tools")).stated, given.get("contract")
    values: dict[str, Json] = {
        "acting_tools": {name: plain_json(_name_values(asdict(tool))) for name, tool in tools.items()},
        "require": options["require"],
        "grounding": options["grounding"],
        "supervision": None if options["supervision"] == "none" else _name(options["supervision"]),
        "retry_policy.exhausted": options["retry_policy"].exhausted,
        "budget": options["budget"].model_dump(mode="json", exclude={"prices"}, exclude_none=True),
        "checks": {
            check.name: _name(check.function)
            for check in cast("Sequence[FunctionCheck]", given.get("checks", ()))
        },
        "verifier": options["verifier"],
        "contract": _name(contract) if isinstance(contract, EvaluationContract | Mapping) else None,
        **{name: _name(given.get(name)) for name in _BY_NAME},
    }
    # Each checkpoint has them, so those that nobody has set are left out.
    return {name: value for name, value in values.items() if value and value != _DEFAULTS.get(name)}


def list_changed(stored: object, current: Mapping[str, Json]) -> list[str]:
    """Lists the safeguards of a run that an orchestrator lacks or changes, a sentence each.

    Args:
        stored: The JSON text in the metadata of the run.
        current: The safeguards of the orchestrator.
    """
    before = {**_DEFAULTS, **(json.loads(stored) if isinstance(stored, str) else {})}
    now = {**_DEFAULTS, **current}
    return [
        f"{name} is {format_repr(now.get(name), 80)}, and the run began with {format_repr(value, 80)}"
        for name, value in before.items()
        if now.get(name) != value
    ]


def _name_values(values: Mapping[str, object]) -> dict[str, object]:
    return {name: _name(value) if callable(value) else value for name, value in values.items()}


def _name(value: object) -> str | None:
    """Names a contract by a digest, a function also by what it does, and other objects by their class."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, EvaluationContract | Mapping):
        text = json.dumps(Contract.read(value).plain, sort_keys=True, default=format_text)
        return f"contract {_digest(text)}"
    named = value if hasattr(value, "__qualname__") else type(value)
    done = f" {_digest_function(value)}" if isinstance(value, FunctionType) else ""
    return f"{named.__module__}.{named.__qualname__}{done}"


def _digest(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _digest_function(function: FunctionType) -> str:
    """Returns a digest of the code of a function and of the plain values that it holds."""
    held = [*(function.__defaults__ or ()), *(cell.cell_contents for cell in function.__closure__ or ())]
    plain = (repr(each) for each in held if isinstance(each, _PLAIN))
    return _digest("\0".join([*_list_code(function.__code__), *plain]))


def _list_code(code: CodeType) -> Iterator[str]:
    yield from (code.co_code.hex(), *code.co_names)
    for each in code.co_consts:
        yield from _list_code(each) if isinstance(each, CodeType) else (repr(each),)
