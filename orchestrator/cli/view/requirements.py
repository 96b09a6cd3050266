"""Describes a derived contract in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation import ContractError
from evaluation.checks import BaseCheck, CheckContext, read_checks
from orchestrator.cli.view.terminal_text import one_line
from orchestrator.state.evaluation_report import mapping
from orchestrator.state.graph_state import DerivedContracts
from orchestrator.state.records import DerivedContract, Json

_CHARACTERS: Final = 120


def describe_check(check: BaseCheck) -> str:
    """Returns the requirement of a check as an instruction: "use at most 2 words"."""
    return check.evaluate(CheckContext("")).wanted


def list_requirements(derived: DerivedContracts | None) -> Iterator[str]:
    """Yields one line for each derived check, and for what is not checked."""
    if derived is None:
        return
    yield from _list_lines("the output", derived["output"])
    for number, contract in enumerate(derived["steps"], 1):
        yield from _list_lines(f"step {number}", contract)


def _list_lines(place: str, contract: DerivedContract | None) -> Iterator[str]:
    if contract is None:
        return
    if wanted := _list_wanted(contract):
        yield f"checks of {place}: {'; '.join(one_line(text, _CHARACTERS) for text in wanted)}"
    if contract["unchecked"]:
        phrases = ", ".join(f"“{one_line(text, _CHARACTERS)}”" for text in contract["unchecked"])
        yield f"not checked in {place}: {phrases}"


def _list_wanted(contract: DerivedContract) -> list[str]:
    checks = contract["contract"].get("checks")
    others = [name for name in contract["contract"] if name != "checks"]
    return [*map(_describe_item, checks if isinstance(checks, list) else ()), *others]


def _describe_item(item: Json) -> str:
    try:
        (check,) = read_checks([item])
    except ContractError:  # a check of the user's code, which a contract only names
        return str(mapping(item).get("name", "a check of your own"))
    return describe_check(check)
