"""The result of a trajectory match: verdict, partial credit, reason, and how missing actions differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, starmap
from typing import Final, NamedTuple

from evaluation.checks.check_model import NOT_RUN_WORDS
from evaluation.contract.run import ExpectedAction, TrajectoryRules
from evaluation.measures.trajectory.expected_steps import Difference, find_differences
from evaluation.report.metric_groups import join_names
from evaluation.report.redaction import build_excerpt
from evaluation.report.state import Action

ORDERED_MODES: Final = frozenset({"exact", "in_order"})
MODES_WITHOUT_EXTRAS: Final = frozenset({"exact", "subset", "precision_recall"})

ArgumentMismatch = tuple[str, Difference]
"""The name of an observed action, and one difference from a missing step of this name."""


class TrajectoryMatch(NamedTuple):
    """The verdict of one mode, and the partial credit and diagnosis, which do not depend on the mode.

    A share with denominator 0 is None: it has no meaning without actions. If ``error`` is set, every share
    is None and the counts of pairs are 0.
    """

    mode: str
    agrees: bool | None = None
    """Whether the trajectory meets the mode; None if ``error`` says why that is undecided."""
    error: str | None = None
    missing_actions: Sequence[str] = ()
    """Steps that no observed action is assigned to, regardless of order."""
    extra_actions: Sequence[str] = ()
    """Observed actions that no step is assigned to."""
    order_violations: Sequence[str] = ()
    """Steps that occur out of order; set only if an ordered mode does not agree."""
    argument_mismatches: Sequence[ArgumentMismatch] = ()
    forbidden_actions: Sequence[str] = ()
    """Every action of a forbidden name, compared or not, failed or not."""
    unreadable_arguments: Sequence[str] = ()
    """Compared actions whose recorded arguments are not a JSON object."""
    unexpected_writes: Sequence[str] = ()
    """Actions of the contract's writing tools that no step is assigned to."""
    expected_count: int = 0
    """Steps that were compared."""
    actual_count: int = 0
    """Observed actions that were compared."""
    matched_count: int = 0
    """Pairs of a step and an action."""

    @property
    def passed(self) -> bool | None:
        """Whether the mode agrees, and no action was forbidden or an unexpected write."""
        if self.forbidden_actions or self.unexpected_writes:
            return False
        return self.agrees

    @property
    def precision(self) -> float | None:
        """Share of the observed actions that were expected: matched / actual."""
        return self._share(self.matched_count, self.actual_count)

    @property
    def recall(self) -> float | None:
        """Share of the expected steps that were observed: matched / expected."""
        return self._share(self.matched_count, self.expected_count)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, 2 p r / (p + r) (van Rijsbergen 1979), or 0."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

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
                f"{self.matched_count} matched, {self.expected_count} expected, {self.actual_count} observed."
            )
        return f"The actions do not agree with the expected ones in mode {self.mode}: {self._problems()}."

    def _share(self, part: int, total: int) -> float | None:
        return part / total if total and self.agrees is not None else None

    def _problems(self) -> str:
        allows_extras = self.mode not in MODES_WITHOUT_EXTRAS and self.expected_count
        problems = {
            "missing": self.missing_actions if self.mode != "subset" else (),
            "extra": () if allows_extras else self.extra_actions,
            "out of order": self.order_violations,
        }
        named = [f"{problem} {join_names(names)}" for problem, names in problems.items() if names]
        return "; ".join([*named, *starmap(explain_mismatch, self.argument_mismatches[:_MAX_EXPLAINED])])


_MAX_EXPLAINED: Final = 5
_MAX_MISMATCHES: Final = 100
_MAX_PER_PAIR: Final = 20
_MAX_TRIED: Final = 8
"""How many observed actions of its name a missing step is compared with, to find the closest."""


def find_mismatches(
    missing: Sequence[ExpectedAction], extra: Sequence[Action], rules: TrajectoryRules
) -> list[ArgumentMismatch]:
    """List how the extra actions differ from the missing steps of the same name."""
    pairs = pair_closest(dict(enumerate(missing)), dict(enumerate(extra)), rules)
    found = ((extra[index]["name"], each) for _, index, differences in pairs for each in differences)
    return list(islice(found, _MAX_MISMATCHES))


def pair_closest(
    steps: Mapping[int, ExpectedAction], actions: Mapping[int, Action], rules: TrajectoryRules
) -> Iterator[tuple[int, int, list[Difference]]]:
    """Yield each step with the unused action of its name that differs least from it, and the differences."""
    unused = dict(actions)
    for place, step in steps.items():
        tried = [
            (index, list(islice(find_differences(pattern, unused[index], rules), _MAX_PER_PAIR)))
            for pattern in step.patterns
            for index in islice((i for i in unused if unused[i]["name"] == pattern.name), _MAX_TRIED)
        ]
        if tried:
            index, differences = min(tried, key=lambda candidate: len(candidate[1]))
            del unused[index]
            yield place, index, differences


def explain_mismatch(action: str, difference: Difference) -> str:
    """Say in a few words which argument is wrong and what it must be."""
    name, path = join_names([action]), difference.path.removeprefix("/")
    if difference.problem == "failed":
        words = next((each for key, each in NOT_RUN_WORDS.items() if key == difference.actual), None)
        if words is not None:
            return f"{name} {words} and did not run; go on without it"
        return f"{name} ended in an error; correct the call"
    if difference.problem == "unexpected":
        return f"{name} has {path}, which is not expected"
    expected = _quote_value(difference.expected)
    if difference.problem == "missing":
        return f"{name} lacks {path}, which must be {expected}"
    return f"{name} has {_quote_value(difference.actual)}{f' for {path}' if path else ''}, not {expected}"


def _quote_value(value: object) -> str:
    # An excerpt is redacted before it is cut: half of a credential would no longer be recognised.
    excerpt = str(build_excerpt(value)["excerpt"])
    return f"'{excerpt}'" if isinstance(value, str) else excerpt
