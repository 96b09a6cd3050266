"""Estimates from recorded attempts whether another attempt pays, for how many, and what may be accepted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, groupby, product
from operator import attrgetter, itemgetter
from statistics import fmean
from typing import Any, Final

from evaluation.judges.figures import JudgeTrust
from evaluation.statistics import pass_at_k, pass_hat_k
from evaluation.values import count_noun, group_by
from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import ResampleRule, RetryPolicy
from orchestrator.study.trial_outcomes import COSTS, Guarantee, Terms, Trial, find_guarantee
from orchestrator.study.worth_curves import SHARE, Changes, Estimate, FollowUp, Rates, Study


@dataclass(frozen=True, slots=True)
class WorthPoint:
    """The figures of a bound of ``k`` attempts; None if a figure is not known.

    Attributes:
        k: Most attempts at a step.
        tasks: Tasks with enough recorded attempts, on which the figures rest.
        right: Share of tasks that end with a right acceptance.
        wrong: Share of tasks that end with a wrong acceptance.
        none: Share of tasks that end without an acceptance.
        attempts: Mean attempts a task.
        tokens: Mean tokens a task.
        seconds: Mean seconds a task.
        cost_usd: Mean cost a task in US dollars.
        value: Mean value a task, in the unit of the terms.
        gain: The value minus that of one attempt less, on the same tasks; None for the first.
        changes: What attempt ``k`` made of the refused ones; None for the first.
        pass_at_k: Chance that one of k attempts is right, whatever the verdicts; of independent trials.
        pass_hat_k: Chance that all of k attempts are right; of independent trials.
    """

    k: int
    tasks: int
    right: Estimate | None
    wrong: Estimate | None
    none: Estimate | None
    attempts: float
    tokens: float | None
    seconds: float | None
    cost_usd: float | None
    value: Estimate | None
    gain: Estimate | None
    changes: Changes | None
    pass_at_k: float | None
    pass_hat_k: float | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """How many attempts pay.

    Attributes:
        attempts: The recommended bound; None if the tasks do not tell.
        more_tasks: Tasks that would tell, with a chance of 80 %, besides the recorded ones; None otherwise.
        sentence: All of it in one sentence.
    """

    attempts: int | None
    more_tasks: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Worth:
    """The result of ``estimate_worth``.

    Attributes:
        tasks: Number of tasks.
        trials: Number of trials.
        in_sequence: Whether the attempts of a trial follow each other, and are never reordered.
        basis: What right and wrong rest on: "labels", "figures of a judge" or "nothing".
        terms: What an answer is worth.
        points: The figures for k = 1, 2, ... attempts.
        follow_ups: What follows best after which failure; empty for independent trials.
        recommendation: How many attempts pay.
        guarantee: None if none was asked for.
        rules: The rules that led to the recorded attempts, each with its place in the retry policy.
    """

    tasks: int
    trials: int
    in_sequence: bool
    basis: str
    terms: Terms
    points: Sequence[WorthPoint]
    follow_ups: Sequence[FollowUp]
    recommendation: Recommendation
    guarantee: Guarantee | None
    rules: Sequence[tuple[int, Mapping[str, object]]] = ()

    @property
    def sentences(self) -> list[str]:
        """What the figures rest on, what may be accepted, and what each further attempt changes."""
        terms, guarantee = self.terms, self.guarantee
        kind = "runs with retries" if self.in_sequence else "independent trials"
        cost = "the cost in USD" if terms.in_usd else f"{terms.cost_per_attempt:g} x attempts"
        return [
            f"tasks: {self.tasks}, {kind}: {self.trials}; right and wrong rest on {self.basis}",
            f"value: {terms.value:g} x right - {terms.loss:g} x wrong - {cost}",
            *([] if guarantee is None else [guarantee.sentence]),
            *map(_describe_gain, self.points[1:]),
            *(each.sentence for each in self.follow_ups),
            *_compare_uses(self.follow_ups),
        ]

    def describe(self, arm: str = "") -> dict[str, object]:
        """Returns the figures and the sentences as plain data, with the name of the model or the policy."""
        figures = {**asdict(self), "terms": self.terms.model_dump()}
        return {"arm": arm, **figures, "sentences": self.sentences}

    def build_policy(self) -> RetryPolicy | None:
        """Builds the recommended retry policy: the recorded rules with the number of attempts that pays.

        Independent trials stand for new samples.

        Returns:
            The policy; None if the tasks do not tell.

        Raises:
            ConfigurationError: The runs do not say by which rules of one policy they were retried.
        """
        if self.recommendation.attempts is None:
            return None
        rules: Sequence[object] = [fields for _, fields in self.rules]
        if not self.in_sequence:
            rules = [ResampleRule()]
        elif not rules or len({place for place, _ in self.rules}) < len(rules):
            raise ConfigurationError(
                "the runs were not retried by the rules of one policy; give those of one, or write it by hand"
            )
        fields: dict[str, Any] = {"max_retries": self.recommendation.attempts - 1, "strategies": rules}
        return RetryPolicy(**fields)


def estimate_worth(
    trials: Iterable[Trial],
    terms: Terms | None = None,
    *,
    judge: JudgeTrust | None = None,
    at_most_wrong: float | None = None,
) -> Worth:
    """Estimates what each number of attempts at a task is worth.

    If every trial is a single attempt, the trials of a task are independent, and are averaged over all of
    their orders. Otherwise the attempts of a trial follow each other, and only their beginnings are read.
    Runs stop at an acceptance: what was never repeated is not estimated. Intervals resample tasks.

    Sources: Chen et al. (2021), arXiv 2107.03374, for pass@k, which this extends by verdicts that err; Yao
    et al. (2024), arXiv 2406.12045, for pass^k; Rogan and Gladen (1978), Estimating prevalence from the
    results of a screening test, American Journal of Epidemiology 107, for the figures of a judge.

    Args:
        trials: The recorded runs; each task has at least one.
        terms: What an answer is worth. Default: 1 for a right one, -3 for a wrong one, 0.02 an attempt.
        judge: The measured figures of the judge that gave the verdicts, if nobody knows what is right.
        at_most_wrong: The share of acceptances that may be wrong, between 0 and 1, for a guarantee.

    Raises:
        ConfigurationError: There is one attempt a task, so that nothing can be estimated; only some
            accepted attempts are known to be right or wrong; or a number is not accepted.
    """
    trials = [*trials]
    basis = _find_basis(trials, judge)
    rates: Sequence[Rates | None] = [None] if judge is None else _list_rates(judge)
    study = Study(group_by(trials, attrgetter("task")), terms or Terms(), rates)
    points = [_measure(study, k) for k in range(1, study.most + 1)]
    rules = {repr(each.rule): each.rule for each in study.attempts if each.rule is not None}
    return Worth(
        tasks=len(study.tasks),
        trials=len(trials),
        in_sequence=study.in_sequence,
        basis=basis,
        terms=study.terms,
        points=points,
        follow_ups=study.list_follow_ups() if study.in_sequence else (),
        recommendation=_recommend(study, points),
        guarantee=None if at_most_wrong is None else _guarantee(study, basis, at_most_wrong),
        rules=sorted(rules.values(), key=itemgetter(0)),
    )


def _guarantee(study: Study, basis: str, at_most: float) -> Guarantee:
    if not 0.0 < at_most < 1.0:
        raise ConfigurationError(f"at_most_wrong is {at_most!r}; give a share between 0 and 1, such as 0.1")
    if basis != _LABELS:
        raise ConfigurationError(
            f"a guarantee rests on {_LABELS}, and right and wrong on {basis}; label the runs"
        )
    return find_guarantee([*study.tasks.values()], at_most, in_sequence=study.in_sequence)


_LABELS: Final = "labels"


def _find_basis(trials: Sequence[Trial], judge: JudgeTrust | None) -> str:
    """Returns what right and wrong rest on."""
    labels = [trial.answer.right for trial in trials if trial.answer]
    known = len(labels) - labels.count(None)
    if 0 < known < len(labels) or (judge and known):
        raise ConfigurationError(
            f"{known} of {len(labels)} accepted answers are known to be right or wrong; label all of them, "
            "or none and give the figures of their judge"
        )
    if judge is not None:
        return "figures of a judge"
    return _LABELS if known == len(labels) else "nothing"


def _list_rates(judge: JudgeTrust) -> list[Rates]:
    """Returns the rates of a judge, and the corners of their intervals."""
    accepts, rejects = judge.false_accepts, judge.false_rejects
    accepted, refused = accepts.interval or SHARE, rejects.interval or SHARE
    if accepts.value is None or rejects.value is None or accepted.high + refused.high >= 1.0:
        raise ConfigurationError(
            "the figures of the judge do not show that it accepts right outputs more often than wrong ones; "
            "measure it with more outputs, or label the attempts"
        )
    return [(accepts.value, rejects.value), *product(accepted, refused)]


def _measure(study: Study, k: int) -> WorthPoint:
    made, last = study.select(k), k - 1
    labels = {} if study.in_sequence else study.list_labels()
    costs = {name: fmean(getattr(each, name) for each in made) for name in COSTS}
    return WorthPoint(
        k=k,
        tasks=len(made),
        right=study.estimate(k, lambda curve: curve[last].right),
        wrong=study.estimate(k, lambda curve: curve[last].wrong),
        none=study.estimate(k, lambda curve: 1.0 - curve[last].accepted),
        attempts=fmean(each.attempts for each in made),
        value=study.estimate_value(k),
        gain=study.estimate_value(k, last) if last else None,
        changes=study.count_changes(k) if last else None,
        pass_at_k=pass_at_k(labels, k),
        pass_hat_k=pass_hat_k(labels, k).value,
        **{name: None if math.isnan(cost) else cost for name, cost in costs.items()},
    )


def _recommend(study: Study, points: Sequence[WorthPoint]) -> Recommendation:
    """Goes from one attempt to the next number that is told to be better, as long as there is one."""
    if any(point.value is None for point in points):
        is_open = any(point.right is None for point in points)
        gap = "what is right is not known; give --truth" if is_open else "an attempt has no known cost"
        return Recommendation(None, None, f"Cannot be told: {gap}.")
    chosen = 1
    while better := next((k for k, gain in study.compare_later(chosen).items() if gain.low > 0.0), 0):
        chosen = better
    later = study.compare_later(1)
    if chosen > 1:
        return Recommendation(chosen, None, f"Use up to {chosen} attempts: {_format_gain(later[chosen])}.")
    if all(each.accepted for each in study.attempts):
        return Recommendation(1, None, "Stop after the first: no attempt was refused.")
    needed = {k: study.count_more(k, gain) for k, gain in later.items() if not gain.is_told}
    if not needed:
        return Recommendation(1, None, f"Stop after the first: with a second, {_format_gain(later[2])}.")
    k = min(needed, key=needed.__getitem__)
    more = int(needed[k]) if needed[k] < math.inf else None
    told = f"{count_noun(more, 'more task')} would tell" if more else "more tasks alone would not tell"
    return Recommendation(
        None, more, f"Cannot be told: {told}; with up to {k} attempts, {_format_gain(later[k])}."
    )


def _compare_uses(follow_ups: Sequence[FollowUp]) -> Iterator[str]:
    """Says which strategy is better after each kind of failure: its interval is above the other."""
    for kind, group in groupby(follow_ups, key=attrgetter("kind")):
        for first, other in combinations(sorted(group, key=lambda each: -each.success.value), 2):
            is_told = first.success.low > other.success.high
            told = "is better than" if is_told else "is not told apart from"
            yield f"after a failure of {kind}, {first.use} {told} {other.use}"


def _format_gain(gain: Estimate) -> str:
    return f"the value of a task changes by {gain:+.3f}"


_ORDINALS: Final = {2: "a second attempt", 3: "a third", 4: "a fourth", 5: "a fifth"}


def _describe_gain(point: WorthPoint) -> str:
    """Says what an attempt corrects and spoils, and whether it pays."""
    name, gain = _ORDINALS.get(point.k, f"attempt {point.k}"), point.gain
    changes = point.changes.sentence if point.changes else ""
    told = f"{changes} that were refused; it " if changes else ""
    if gain is None:
        return f"{name} {told}is of unknown worth"
    pays = "pays" if gain.value > 0.0 else "is a loss"
    effect = pays if gain.is_told else "changes nothing that can be told"
    return f"{name} {told}{effect}: {_format_gain(gain)}"
