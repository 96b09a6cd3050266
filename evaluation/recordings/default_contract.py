"""The audit of a recorded run, which the file of the run cannot weaken."""

from __future__ import annotations

from typing import Final

from evaluation.contract.requirements import DEFAULT_CONTRACT
from evaluation.values import JsonObject, as_object

_OF_FILE: Final = ("fake_judge_response",)
"""Fields with which a file would answer for a judge."""
_WEAKENING: Final = ("credentials", "personal_data", "defects")
"""Settings of the audit that a file may not choose for itself."""


def build_default_contract(_run: JsonObject, /) -> dict[str, object]:
    """Builds the contract of a run that has none, for a case that has to state its contract."""
    return dict(DEFAULT_CONTRACT.plain)


def hold_own_audit(case: JsonObject) -> tuple[dict[str, object], list[str]]:
    """Returns a case of a file without the fields that would weaken its audit or answer for a judge.

    Args:
        case: The run, and the contract that its file states, if any.

    Returns:
        The case, and the names of the fields that were removed.
    """
    audit = as_object(case.get("audit"))
    ignored = [name for name in _OF_FILE if name in case]
    ignored += [f"audit.{name}" for name in _WEAKENING if name in audit]
    rules = {name: value for name, value in audit.items() if name not in _WEAKENING}
    kept = {name: value for name, value in case.items() if name not in _OF_FILE}
    if audit:
        del kept["audit"]
    return {**kept, **({"audit": rules} if rules else {})}, ignored
