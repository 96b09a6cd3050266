"""What the comparison of two trajectories found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from evaluation.inputs.rules import MatchMode
from evaluation.metrics.trajectory.arguments import Problem

_MOST_NAMES: Final = 5
_MOST_CHARACTERS: Final = 60
_MOST_OF_A_NAME: Final = 200


def shown(name: str) -> str:
    """Return a name of at most 60 characters in quotes, without control characters or lone surrogates."""
    return ascii(name) if len(name) <= _MOST_CHARACTERS else ascii(name[:_MOST_CHARACTERS]) + "..."


def listed(names: Sequence[str]) -> str:
    """Return up to five names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    text = ", ".join(map(bounded, names[:_MOST_NAMES]))
    return f"{text} and {more} more" if more > 0 else text


def bounded(name: str) -> str:
    """Return a name as it is where it is short and printable, else as ``shown``."""
    return name if len(name) <= _MOST_CHARACTERS and name.isprintable() else shown(name)


def quotable(names: Sequence[str]) -> list[str]:
    """Return all names, each cut to 200 characters: a model may call a tool by a whole text."""
    return [name if len(name) <= _MOST_OF_A_NAME else f"{name[:_MOST_OF_A_NAME]}…" for name in names]


@dataclass(frozen=True, slots=True)
class ArgumentMismatch:
    """One place in which an action that was seen differs from one of the same name that was missed."""

    name: str
    expected_index: int
    """Position among the expected steps as given."""
    observed_index: int
    """Position among the observed actions as given."""
    path: str
    """JSON Pointer into the arguments; or ``agent``, ``target`` or ``kind``, without a slash."""
    problem: Problem
    """``missing`` and ``unexpected`` say that there is no value on one side, ``unreadable`` that the recorded
    arguments are no JSON object, ``refused`` that the caller's function said no."""
    expected: object
    actual: object


class TrajectoryMatch(NamedTuple):
    """The verdict of one mode, and the partial credit and the diagnosis, which do not depend on it.

    A share whose denominator is 0 is None: of no actions, no share is right. So is every share where
    ``error`` says why nothing could be compared; the counts of pairs are 0 then.
    """

    mode: MatchMode
    agrees: bool | None
    """Whether the trajectory is what the mode asks for; None where ``error`` says why it stays open."""
    error: str | None = None
    missing_actions: tuple[str, ...] = ()
    """Required steps that no observed action was left for, whatever the order."""
    extra_actions: tuple[str, ...] = ()
    """Observed actions that no step was left for."""
    order_violations: tuple[str, ...] = ()
    """Steps that were seen, but not in their place; only where a mode that asks for order does not agree."""
    argument_mismatches: tuple[ArgumentMismatch, ...] = ()
    mismatches_truncated: bool = False
    forbidden_actions: tuple[str, ...] = ()
    """Every action of a forbidden name, compared or not, failed or not."""
    failed_calls: tuple[str, ...] = ()
    """Compared actions whose result was an error, also where the rules then leave them out."""
    unreadable_arguments: tuple[str, ...] = ()
    """Compared actions whose recorded arguments are no JSON object."""
    failures_count: bool = False
    """Whether a failed call is a failure of the run."""
    expected_count: int = 0
    """Required steps that were compared."""
    optional_count: int = 0
    """Optional steps that were compared."""
    actual_count: int = 0
    """Observed actions that were compared."""
    matched_count: int = 0
    """Pairs of a step and an action."""
    matched_optional_count: int = 0
    """Those of them with an optional step."""
    common_count: int = 0
    """Length of the longest common subsequence of required steps and observed actions."""

    @property
    def passed(self) -> bool | None:
        """Whether the mode agrees, nothing forbidden was done, and nothing failed that must not fail."""
        if self.forbidden_actions or (self.failures_count and self.failed_calls):
            return False
        return self.agrees

    @property
    def precision(self) -> float | None:
        """Share of the observed actions that were expected: matched / actual."""
        return self._share(self.matched_count, self.actual_count)

    @property
    def recall(self) -> float | None:
        """Share of the required steps that were seen: matched required / required."""
        return self._share(self.matched_count - self.matched_optional_count, self.expected_count)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, 2 p r / (p + r) (van Rijsbergen 1979), or 0."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    @property
    def alignment(self) -> float | None:
        """Longest common subsequence over the longer of the two, actions for optional steps left out."""
        others = self.actual_count - self.matched_optional_count
        return self._share(self.common_count, max(self.expected_count, others))

    @property
    def score(self) -> float | None:
        """F1 in mode ``precision_recall``; in all others 1 where the mode agrees, else 0."""
        if self.mode == "precision_recall":
            return self.f1
        return None if self.agrees is None else float(self.agrees)

    @property
    def reason(self) -> str:
        """One sentence that says why the mode agrees or does not; names are bounded in number and length."""
        if self.agrees is None:
            return f"The trajectory could not be compared: {self.error}."
        if self.agrees:
            return (
                f"The actions agree with the expected ones in mode {self.mode}: "
                f"{self.matched_count} matched, {self.expected_count} required, {self.actual_count} observed."
            )
        return f"The actions do not agree with the expected ones in mode {self.mode}: {self._problems()}."

    def _share(self, part: int, whole: int) -> float | None:
        return part / whole if whole and self.agrees is not None else None

    def _problems(self) -> str:
        found: dict[str, Sequence[str]] = {
            "missing": self.missing_actions if self.mode != "subset" else (),
            "extra": self.extra_actions if self.mode in EXTRAS_MATTER else (),
            "out of order": self.order_violations,
            "with other arguments": tuple(dict.fromkeys(each.name for each in self.argument_mismatches)),
        }
        return "; ".join(f"{problem} {listed(names)}" for problem, names in found.items() if names)


EXTRAS_MATTER: Final = frozenset({"exact", "subset", "precision_recall"})
