"""The result of a trajectory match (verdict, shares, reason), and how it writes the names of actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from evaluation.metrics.trajectory.arguments.differences import Problem
from evaluation.sensitive.quoting import shorten

ORDERED_MODES: Final = frozenset({"exact", "in_order"})
MODES_WITHOUT_EXTRAS: Final = frozenset({"exact", "subset", "precision_recall"})
_MAX_NAMES: Final = 5


def list_names(names: Sequence[str]) -> str:
    """Return up to five names, and how many more there are."""
    more = len(names) - _MAX_NAMES
    text = ", ".join(map(format_name, names[:_MAX_NAMES]))
    return f"{text} and {more} more" if more > 0 else text


def format_name(name: str) -> str:
    """Return a name on one line and with at most 60 characters; an unusual one is quoted."""
    text = shorten(name)
    if text.isprintable():
        return text
    cut = "…" if text != name else ""
    return f"{text.removesuffix('…')!a}{cut}"


class ArgumentMismatch(NamedTuple):
    """One difference between an observed action and a missing step of the same name."""

    name: str
    expected_index: int
    """Position in the expected steps, before any are left out."""
    observed_index: int
    """Position in the observed actions, before any are left out."""
    path: str
    """JSON Pointer into the arguments; or ``agent``, ``target``, ``kind`` or ``error``, without a slash."""
    problem: Problem
    """``missing`` and ``unexpected``: one side has no value. ``unreadable``: the recorded arguments are no
    JSON object. ``refused``: the user's argument function returned false. ``failed``: the call ended in an
    error."""
    expected: object
    actual: object
    """Of a ``failed`` call: why its tool did not run; None if it did."""

    @property
    def is_failure(self) -> bool:
        """Whether the call failed, whatever its arguments are."""
        return self.problem == "failed"


class TrajectoryMatch(NamedTuple):
    """The verdict of one mode, and the partial credit and diagnosis, which do not depend on the mode.

    A share with denominator 0 is None: it has no meaning without actions. If ``error`` is set, every share
    is None and the counts of pairs are 0.
    """

    mode: str
    agrees: bool | None
    """Whether the trajectory meets the mode; None if ``error`` says why that is undecided."""
    error: str | None = None
    missing_actions: tuple[str, ...] = ()
    """Required steps that no observed action is assigned to, regardless of order."""
    extra_actions: tuple[str, ...] = ()
    """Observed actions that no step is assigned to."""
    order_violations: tuple[str, ...] = ()
    """Steps that occur out of order; set only if an ordered mode does not agree."""
    argument_mismatches: tuple[ArgumentMismatch, ...] = ()
    mismatches_truncated: bool = False
    forbidden_actions: tuple[str, ...] = ()
    """Every action of a forbidden name, compared or not, failed or not."""
    failed_calls: tuple[str, ...] = ()
    """Compared actions whose result was an error, also where the rules then leave them out."""
    unreadable_arguments: tuple[str, ...] = ()
    """Compared actions whose recorded arguments are not a JSON object."""
    unexpected_writes: tuple[str, ...] = ()
    """Actions of the contract's writing tools that no step is assigned to."""
    recorded_writes: tuple[str, ...] = ()
    """The same for tools that the contract does not name and that write by the run's own word."""
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
    """Pairs with an optional step."""
    common_count: int = 0
    """Length of the longest common subsequence of required steps and observed actions."""

    @property
    def passed(self) -> bool | None:
        """Whether the mode agrees, and no action was forbidden, an unexpected write, or a wrong failure."""
        if self.forbidden_actions or self.unexpected_writes or (self.failures_count and self.failed_calls):
            return False
        return self.agrees

    @property
    def precision(self) -> float | None:
        """Share of the observed actions that were expected: matched / actual."""
        return self._share(self.matched_count, self.actual_count)

    @property
    def recall(self) -> float | None:
        """Share of the required steps that were observed: matched required / required."""
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
        """Longest common subsequence / the longer of the two, without actions matched to optional steps."""
        others = self.actual_count - self.matched_optional_count
        return self._share(self.common_count, max(self.expected_count, others))

    @property
    def score(self) -> float | None:
        """F1 in mode ``precision_recall``; in all others 1 if the mode agrees, else 0."""
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

    def _share(self, part: int, total: int) -> float | None:
        return part / total if total and self.agrees is not None else None

    def _problems(self) -> str:
        problems: dict[str, Sequence[str]] = {
            "missing": self.missing_actions if self.mode != "subset" else (),
            "extra": self.extra_actions if self._allows_no_extras() else (),
            "out of order": self.order_violations,
            "with other arguments": self._list_mismatched(lambda each: not each.is_failure),
            "that ended in an error": self._list_mismatched(lambda each: each.is_failure and not each.actual),
            "that did not run": self._list_mismatched(lambda each: each.is_failure and bool(each.actual)),
        }
        return "; ".join(f"{problem} {list_names(names)}" for problem, names in problems.items() if names)

    def _allows_no_extras(self) -> bool:
        return self.mode in MODES_WITHOUT_EXTRAS or not self.expected_count

    def _list_mismatched(self, is_listed: Callable[[ArgumentMismatch], bool]) -> list[str]:
        return list(dict.fromkeys(each.name for each in self.argument_mismatches if is_listed(each)))
