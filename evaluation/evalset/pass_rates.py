"""How often repeated runs of cases pass: pass@k, pass^k, and the cases that pass only sometimes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from evaluation.evalset.case_result import CaseResult
from evaluation.statistics.intervals import TrialRate, pass_at_k, pass_hat_k

Trials: TypeAlias = Mapping[str, Sequence[bool]]
"""Whether each run of a case passed, by the name of the case."""
_FULL_SCORE: Final = 1.0
_MOST_K: Final = 8
_MOST_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class PassRate:
    """The chances of k runs of a case, over the cases with at least k runs.

    Attributes:
        k: Number of runs.
        at_least_one: pass@k, the chance that at least one of them passes.
        all_of_them: pass^k, the chance that all of them pass.
    """

    k: int
    at_least_one: TrialRate
    all_of_them: TrialRate


def group_trials(
    results: Iterable[CaseResult], read: Callable[[CaseResult], bool | None]
) -> dict[str, Trials]:
    """Group outcomes by arm and case.

    Args:
        results: The results of any arms.
        read: Returns the outcome of a result, such as ``read_verdict``; None leaves the result out.
    """
    arms: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        if (outcome := read(result)) is not None:
            arms[result.arm][result.name].append(outcome)
    return {arm: dict(trials) for arm, trials in arms.items()}


def read_verdict(result: CaseResult) -> bool:
    """Return whether the run passed and was accepted; one that needs a review has not passed."""
    return result.accepted and result.status in {"passed", "warning"}


def read_score(result: CaseResult) -> bool | None:
    """Return whether the recorded score is the full one, 1; None if the source recorded none."""
    return None if result.score is None else result.score >= _FULL_SCORE


def list_pass_rates(trials: Trials) -> list[PassRate]:
    """Compute pass@k and pass^k for each k up to the number of runs of a case, and at most 8."""
    most = max(map(len, trials.values()), default=0)
    return [
        PassRate(k, pass_at_k(trials, k), pass_hat_k(trials, k)) for k in range(1, min(most, _MOST_K) + 1)
    ]


def find_flaky(trials: Trials) -> dict[str, str]:
    """Return "2 of 3" for each case of which some runs pass and some do not, by its name."""
    return {
        name: f"{sum(outcomes)} of {len(outcomes)}"
        for name, outcomes in trials.items()
        if 0 < sum(outcomes) < len(outcomes)
    }


def describe_pass_rates(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yield lines with the rates of repeated runs, by verdict and by recorded score; none without repeats."""
    for by, read in (("by verdict", read_verdict), ("by recorded score", read_score)):
        for arm, trials in group_trials(results, read).items():
            label = f"{arm}, {by}" if arm else by
            rates = list_pass_rates(trials)
            if len(rates) > 1 or by != "by verdict":
                yield from (f"{label}: {_format_rate(rate)}" for rate in rates)
            if flaky := find_flaky(trials):
                yield f"{label}: {len(flaky)} of {len(trials)} cases are flaky: {_list_names(flaky)}"


def _format_rate(rate: PassRate) -> str:
    k, cases = rate.k, rate.all_of_them.cases
    all_of_them, at_least_one = map(_format_share, (rate.all_of_them, rate.at_least_one))
    return f"pass^{k} {all_of_them}, pass@{k} {at_least_one}, {cases} case{'' if cases == 1 else 's'}"


def _format_share(share: TrialRate) -> str:
    if share.value is None or share.interval is None:
        return "unknown"
    return f"{share.value:.4f} ({share.interval.low:.4f} to {share.interval.high:.4f})"


def _list_names(flaky: Mapping[str, str]) -> str:
    shown = [f"{name} ({count})" for name, count in flaky.items()][:_MOST_NAMES]
    return ", ".join(shown) + (f" and {len(flaky) - _MOST_NAMES} more" if len(flaky) > _MOST_NAMES else "")
