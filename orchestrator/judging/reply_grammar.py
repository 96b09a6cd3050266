"""Writes the grammar of a step's output from the checks of its contract."""

from __future__ import annotations

from evaluation.checks.vocabulary import CHECKS, read_checks
from evaluation.grammar import write_grammar
from orchestrator.judging.report import mapping
from orchestrator.state.records import PlainContract


def write_reply_grammar(contract: PlainContract, task: str) -> str | None:
    """Writes the grammar of the outputs that have the form that a contract asks for.

    Returns:
        The grammar in GBNF; None if the contract asks for no form.
    """
    checks = contract.get("checks")
    stated = [mapping(each) for each in checks] if isinstance(checks, list) else []
    return write_grammar(read_checks([each for each in stated if each.get("check") in CHECKS]), task)
