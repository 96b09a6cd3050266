"""Matches an observed trajectory to the expected one: ``match_trajectory``, for every match mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product, starmap
from typing import Final, NamedTuple, Self

from rapidfuzz.distance import LCSseq

from evaluation.checks.kinds.tools import describe_unknown
from evaluation.contract.contract import MATCH_MODES, ExpectedAction, TrajectoryRules
from evaluation.findings import join_names
from evaluation.measures.action_differences import (
    Difference,
    explain_difference,
    find_misspelt_tool,
    fits_step,
    pair_closest,
)
from evaluation.report.report_model import Action
from evaluation.sensitive.scanner import shorten
from evaluation.values import group_by, number_neighbours

_ORDERED_MODES: Final = frozenset({"exact", "in_order"})
MODES_WITHOUT_EXTRAS: Final = frozenset({"exact", "subset", "precision_recall"})
_MOST_READ: Final = 4
"""Most unknown effects that are read in every combination."""
_MAX_COMPARISONS: Final = 1_000_000
"""Most pairs of a step and an action that are compared: some seconds."""
_MAX_MISMATCHES: Final = 100
_MAX_EXPLAINED: Final = 5


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
    argument_mismatches: Sequence[tuple[str, Difference]] = ()
    """The names of observed actions, each with one difference from a missing step of this name."""
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
    def shares(self) -> dict[str, float | None]:
        """The partial credit by name.

        ``precision`` is the share of the observed actions that were expected, and ``recall`` the share of the
        expected steps that were observed. ``f1`` is their harmonic mean (van Rijsbergen 1979). ``score`` is
        F1 in mode ``precision_recall``; in all others 1 if the mode agrees, else 0.
        """
        if self.agrees is None:
            return dict.fromkeys(("score", "precision", "recall", "f1"))
        matched, actual, expected = self.matched_count, self.actual_count, self.expected_count
        f1 = 2 * matched / (actual + expected) if actual and expected else None
        return {
            "score": f1 if self.mode == "precision_recall" else float(self.agrees),
            "precision": matched / actual if actual else None,
            "recall": matched / expected if expected else None,
            "f1": f1,
        }

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

    def _problems(self) -> str:
        allows_extras = self.mode not in MODES_WITHOUT_EXTRAS and self.expected_count
        problems = {
            "missing": self.missing_actions if self.mode != "subset" else (),
            "extra": () if allows_extras else self.extra_actions,
            "out of order": self.order_violations,
        }
        named = [f"{problem} {join_names(names)}" for problem, names in problems.items() if names]
        return "; ".join([*named, *starmap(explain_difference, self.argument_mismatches[:_MAX_EXPLAINED])])


def match_trajectory(
    actual: Sequence[Action],
    expected: Sequence[ExpectedAction],
    mode: str,
    rules: TrajectoryRules,
) -> TrajectoryMatch:
    """Compare the observed actions with the expected steps.

    If the trajectories agree pair by pair, that decides. Otherwise the largest possible set of pairs is
    assigned, each action once; the rest is missing or extra.

    Args:
        actual: the observed actions, in order.
        expected: the expected steps, in order; if there is none, no action may occur.
        mode: the rule for agreement; see ``docs/reference/trajectory-matching.md``.
        rules: how arguments are compared, and which tools are ignored, forbidden or act.

    Returns:
        The result. If it cannot be decided (an unknown mode, more than a million comparisons, several steps
        in mode ``single_tool``, a call of which it is not known whether it acted), or would agree although
        the rules compare nothing or have a misspelt name, ``agrees`` is None and ``error`` says why.
    """
    unknown = [index for index, each in enumerate(actual) if each["outcome"] == "unknown"]
    readings = _list_readings(actual, unknown) if len(unknown) <= _MOST_READ else ()
    matches = [_match(reading, expected, mode, rules) for reading in readings]
    if len({each.passed for each in matches}) == 1:
        return matches[0]
    last = actual[unknown[-1]]
    return TrajectoryMatch(mode, error=describe_unknown(last["name"], last["result"], last["error"]))


def _list_readings(actual: Sequence[Action], unknown: Sequence[int]) -> Iterator[Sequence[Action]]:
    """Yield the actions as they are if each unknown effect happened or not."""
    for choice in product((True, False), repeat=len(unknown)):
        acted = dict(zip(unknown, choice, strict=True))
        yield [
            _assume(each, acted=acted[index]) if index in acted else each for index, each in enumerate(actual)
        ]


def _assume(action: Action, *, acted: bool) -> Action:
    if acted:
        return {**action, "outcome": "acted", "error": None}
    return {**action, "outcome": "refused", "error": action["error"] or "error"}


def _match(
    actual: Sequence[Action], expected: Sequence[ExpectedAction], mode: str, rules: TrajectoryRules
) -> TrajectoryMatch:
    actions, steps = select_compared(actual, expected, rules)
    result = TrajectoryMatch(
        mode,
        forbidden_actions=[
            each["name"] for each in actual if each["name"] in rules.forbidden_tools and not each["not_run"]
        ],
        unreadable_arguments=[each["name"] for each in actions if each["args_error"] is not None],
        expected_count=len(steps),
        actual_count=len(actions),
    )
    problem = _find_problem(result, expected)
    match = result if problem else _decide_match(result, actions, steps, rules)
    # Thresholds may take the place of the verdict in mode precision_recall, so its shares are withdrawn too.
    if rules.model_fields_set and (match.agrees or mode == "precision_recall"):
        problem = problem or find_misspelt_tool(actual, expected, rules)
    return result._replace(error=problem) if problem else match


def select_compared(
    actual: Iterable[Action], expected: Iterable[ExpectedAction], rules: TrajectoryRules
) -> tuple[list[Action], list[ExpectedAction]]:
    """Leave out the tools that the rules ignore; a step is left out if all its alternatives are."""
    # A reused answer is no further effect.
    made = [action for action in actual if action["outcome"] != "reused"]
    actions = [action for action in made if action["name"] not in rules.ignored_tools]
    steps = [step for step in expected if not {*step.names} <= {*rules.ignored_tools}]
    if rules.acting_tools is None:
        return actions, steps
    actions = [action for action in actions if action["error"] is None]
    acting = [
        step for step in steps if any(rules.may_act(str(each.name), each.kind) for each in step.patterns)
    ]
    if steps and not acting:
        # The contract expects nothing but reading. Only its own word tells: a run's would free it.
        return actions, steps
    names = {name for step in acting for name in step.names}
    kept = [each for each in actions if each["name"] in names or rules.may_act(each["name"], each["kind"])]
    return kept, acting


def _find_problem(result: TrajectoryMatch, expected: Sequence[ExpectedAction]) -> str | None:
    if result.mode not in MATCH_MODES:
        modes = ", ".join(MATCH_MODES)
        return f"the match mode {shorten(result.mode)!r} is not supported; use one of {modes}"
    if result.mode == "single_tool" and result.expected_count != 1:
        return f"mode single_tool needs exactly one expected action; {result.expected_count} were given"
    if expected and not result.expected_count:
        return "ignored_tools leave out every expected action; compare one of them, or expect no action"
    return None


def _decide_match(
    result: TrajectoryMatch, actions: list[Action], steps: list[ExpectedAction], rules: TrajectoryRules
) -> TrajectoryMatch:
    # Most recorded runs agree: comparing pair by pair spares them the assignment.
    if len(steps) == len(actions) and all(map(fits_step, steps, actions, [rules] * len(steps))):
        return result._replace(agrees=True, matched_count=result.actual_count)
    if len(steps) * len(actions) > _MAX_COMPARISONS:
        return result._replace(error="too many actions have to be compared with too many steps")
    pairs = StepPairs.of(steps, actions, rules)
    missing, extra, agrees = pairs.missing, pairs.extra, pairs.agree(result.mode)
    out_of_order = [] if agrees or result.mode not in _ORDERED_MODES else pairs.list_out_of_order()
    closest = pair_closest(missing, extra, rules) if missing else ()
    mismatches = ((extra[place]["name"], each) for _, place, differences in closest for each in differences)
    extra_names = [action["name"] for action in extra.values()]
    return result._replace(
        agrees=agrees,
        missing_actions=[" | ".join(step.names) for step in missing.values()],
        extra_actions=extra_names,
        unexpected_writes=[name for name in extra_names if name in (rules.acting_tools or ())],
        order_violations=[" | ".join(step.names) for step in out_of_order],
        argument_mismatches=[*islice(mismatches, _MAX_MISMATCHES)],
        matched_count=len(pairs.assigned),
    )


@dataclass(frozen=True, slots=True)
class StepPairs:
    """The action of each compared step."""

    steps: Sequence[ExpectedAction]
    actions: Sequence[Action]
    candidates: Sequence[Sequence[int]]
    """The actions that fit each step."""
    places: Sequence[int]
    """The place of each action; the calls of one message are parallel and share a place."""
    assigned: Mapping[int, int]

    @classmethod
    def of(cls, steps: Sequence[ExpectedAction], actions: Sequence[Action], rules: TrajectoryRules) -> Self:
        """Assign to each step one of the actions that fit it; as many as possible."""
        candidates = [[i for i, each in enumerate(actions) if fits_step(step, each, rules)] for step in steps]
        places = number_neighbours(actions, _are_parallel)
        in_order = _assign_in_order(candidates, places)
        return cls(steps, actions, candidates, places, assign_actions(candidates, in_order))

    @property
    def missing(self) -> dict[int, ExpectedAction]:
        """The steps without an action, by position."""
        return {place: step for place, step in enumerate(self.steps) if place not in self.assigned}

    @property
    def extra(self) -> dict[int, Action]:
        """The actions without a step, by position."""
        taken = set(self.assigned.values())
        return {place: action for place, action in enumerate(self.actions) if place not in taken}

    def agree(self, mode: str) -> bool:
        """Return whether steps and actions agree in a mode."""
        # An expectation of nothing would hold for every run, so it forbids all actions.
        if self.extra and (mode in MODES_WITHOUT_EXTRAS or not self.steps):
            return False
        if self.missing and mode != "subset":
            return False
        if mode == "exact":
            return self._agree_exactly()
        return mode not in _ORDERED_MODES or not self.list_out_of_order()

    def _agree_exactly(self) -> bool:
        """Return whether the parallel calls of each place are the steps of the same positions."""
        groups = group_by(range(len(self.places)), self.places.__getitem__)
        return all(
            len(assign_actions([[each for each in self.candidates[i] if each in group] for i in group]))
            == len(group)
            for group in groups.values()
        )

    def list_out_of_order(self) -> list[ExpectedAction]:
        """List the steps outside one longest sequence of pairs that is in order."""
        ordered = sorted(self.assigned)
        places = [self.places[self.assigned[step]] for step in ordered]
        edits = LCSseq.editops(places, sorted(places))
        return [self.steps[step] for step in sorted(ordered[e.src_pos] for e in edits if e.tag == "delete")]


def _are_parallel(before: Action, action: Action) -> bool:
    """Return whether the same message made two actions."""
    return action["message"] is not None and action["message"] == before["message"]


def _assign_in_order(candidates: Sequence[Sequence[int]], places: Sequence[int]) -> dict[int, int]:
    """Give each step the earliest free action that is not before the actions of earlier steps.

    Every step gets one if the actions are in order.
    """
    assigned: dict[int, int] = {}
    last = 0
    for step, fitting in enumerate(candidates):
        taken = assigned.values()
        action = next((each for each in fitting if places[each] >= last and each not in taken), None)
        if action is not None:
            assigned[step] = action
            last = places[action]
    return assigned


def assign_actions(candidates: Sequence[Iterable[int]], held: Mapping[int, int] = {}) -> dict[int, int]:
    """Assign as many observed actions as possible, by augmenting paths (Kuhn 1955, Berge 1957).

    If all candidates of a step are taken, their holders move to other candidates. So an early choice never
    costs a later pair, and a step that has an action keeps one.

    Args:
        candidates: the actions that fit each step.
        held: the action that each step has before; such a step may get another one.

    Returns:
        The action by step; always the same for the same input.
    """
    assigned, closed = dict(held), set[int]()
    for step in range(len(candidates)):
        if step not in assigned:
            assigned |= _find_path(step, candidates, assigned, closed)
    return assigned


def _find_path(
    step: int, candidates: Sequence[Iterable[int]], assigned: Mapping[int, int], closed: set[int]
) -> dict[int, int]:
    """Return the new actions of steps that give ``step`` one; without such a path, nothing.

    A search that fails adds the actions that it reached to ``closed``: no free one is found from them.
    """
    holders = {action: each for each, action in assigned.items()}
    reached: dict[int, int] = {}
    """The step that reached each action."""
    for each in (queue := [step]):
        for action in candidates[each]:
            if action in reached or action in closed:
                continue
            reached[action] = each
            if action not in holders:
                return dict(_trace_path(action, reached, assigned))
            queue.append(holders[action])
    closed.update(reached)
    return {}


def _trace_path(
    action: int | None, reached: Mapping[int, int], assigned: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    while action is not None:
        yield reached[action], action
        action = assigned.get(reached[action])
