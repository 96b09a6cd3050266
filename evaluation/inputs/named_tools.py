"""Lists the tools that a contract names, with the field that names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evaluation.checks.kinds.tools import ProbeCheck, ToolCalls
from evaluation.inputs.contract import EvaluationContract
from evaluation.inputs.run import TrajectoryRules

_OPTIONAL_MODES: Final = frozenset({"subset", "precision_recall"})
"""Match modes in which a run can agree with an expected action that it lacks."""
_TRAJECTORY_LISTS: Final = (
    *("forbidden_tools", "ignored_tools", "compared_tools", "acting_tools", "reading_tools", "final_tools"),
    "tools",
)


@dataclass(frozen=True, slots=True)
class NamedTools:
    """Tools that one field of a contract names.

    Attributes:
        field: The path of the field, such as ``trajectory.forbidden_tools``.
        names: The names.
        is_required: Whether one of them has to be called.
        only_reads: Whether each of them must only read.
    """

    field: str
    names: tuple[str, ...]
    is_required: bool = False
    only_reads: bool = False


def list_named_tools(contract: EvaluationContract) -> Iterator[NamedTools]:
    """List the tools that a contract names, in the order of its fields."""
    for place, check in enumerate(contract.checks):
        if isinstance(check, ProbeCheck):
            yield NamedTools(f"checks[{place}].tool", (check.tool,), is_required=True, only_reads=True)
        if isinstance(check, ToolCalls):
            yield NamedTools(f"checks[{place}].tool", (check.tool,), bool(check.exactly or check.min))
    yield from _list_expected(contract)
    for name in contract.must_call:
        yield NamedTools("must_call", (name,), is_required=True)
    for field in _TRAJECTORY_LISTS:
        yield NamedTools(f"trajectory.{field}", tuple(getattr(contract.trajectory, field) or ()))
    for place, rule in enumerate(contract.audit.rules):
        yield NamedTools(f"audit.rules[{place}].allowed_tools", tuple(rule.allowed_tools or ()))
        yield NamedTools(f"audit.rules[{place}].forbidden_tools", tuple(rule.forbidden_tools or ()))


def _list_expected(contract: EvaluationContract) -> Iterator[NamedTools]:
    is_partial = contract.trajectory_match_mode in _OPTIONAL_MODES
    for place, action in enumerate(contract.expected_trajectory or ()):
        if action.kind in {None, "tool"}:
            names, is_optional = tuple(sorted(action.names)), is_partial or action.optional
            is_required = not is_optional and all(_is_compared(name, contract.trajectory) for name in names)
            yield NamedTools(f"expected_trajectory[{place}]", names, is_required)


def _is_compared(name: str, rules: TrajectoryRules) -> bool:
    """Return whether the rules compare calls of a tool in every case."""
    kept = [names for names in (rules.compared_tools, rules.acting_tools) if names is not None]
    return name not in rules.ignored_tools and all(name in names for names in kept)
