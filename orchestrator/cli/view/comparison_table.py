"""Draws a comparison: the figures of each side, the differences, and the cases that changed sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Final

from rich.table import Table

from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.pass_rates import read_verdict
from evaluation.reporting.arm_differences import ArmDifference
from evaluation.statistics.intervals import proportion
from evaluation.values import JsonObject, as_object
from orchestrator.cli.view.consoles import count_noun, one_line
from orchestrator.cli.view.person import format_command

_MOST_CASES: Final = 10


def draw_arms(results: Sequence[CaseResult], figures: Sequence[JsonObject]) -> Table:
    """Draws a column for each side.

    Args:
        results: The results of all sides.
        figures: What ``summarize_arms`` computed of them.
    """
    table = Table("", *(one_line(str(each["arm"])) for each in figures), box=None, pad_edge=False)
    sides = [[result for result in results if result.arm == each["arm"]] for each in figures]
    columns = [_describe_side(side, each) for side, each in zip(sides, figures, strict=True)]
    for name in columns[0]:
        if any(column[name] for column in columns):
            table.add_row(name, *(column[name] or "-" for column in columns))
    return table


def list_differences(differences: Sequence[ArmDifference]) -> Iterator[str]:
    """Yields a sentence for each pair of sides: the difference, and whether it is told apart."""
    for each in differences:
        low, high = each.interval
        yield (
            f"{one_line(each.treatment)} against {one_line(each.control)}: success {each.value:+.2f} "
            f"({low:+.2f} to {high:+.2f}) on {count_noun(each.cases, 'case')}, "
            f"corrected p {each.p_value:.2g}; {_conclude(each)}"
        )


def list_changed_cases(results: Sequence[CaseResult], differences: Sequence[ArmDifference]) -> Iterator[str]:
    """Yields the cases that one side passes and the other does not, each with the commands that show them."""
    for each in differences:
        yield from (
            f"  {one_line(name)}: {before:.0%} of {one_line(each.control)}, "
            f"{after:.0%} of {one_line(each.treatment)}{_format_commands(results, each, name)}"
            for name, (before, after) in [*each.changed.items()][:_MOST_CASES]
        )
        if (more := len(each.changed) - _MOST_CASES) > 0:
            yield f"  and {count_noun(more, 'case')} more"


def _conclude(difference: ArmDifference) -> str:
    if difference.is_shown:
        return "told apart"
    if difference.needed is None:
        return "not told apart: both sides pass equally often"
    return f"not told apart: about {difference.needed} cases would show such a difference"


def _format_commands(results: Sequence[CaseResult], difference: ArmDifference, name: str) -> str:
    sides = (difference.control, difference.treatment)
    first = {result.arm: result for result in reversed(results) if result.name == name}
    known = [as_object(first[arm].agent_run.get("metadata")) for arm in sides]
    shown = [
        format_command("show", str(each["thread_id"]), str(each["store"]))
        for each in known
        if "store" in each
    ]
    return f" ({'; '.join(shown)})" if shown else ""


def _describe_side(side: Sequence[CaseResult], figures: JsonObject) -> Mapping[str, str]:
    passed = sum(map(read_verdict, side))
    bases = ", ".join(f"{count} {basis}" for basis, count in as_object(figures["bases"]).items())
    rates = [rate for result in side for rate in _list_rates(result)]
    retries = [value for each in side if isinstance(value := each.agent_run.get("retries"), int)]
    return {
        "success": _format_share(passed, len(side)),
        "rests on": bases,
        "wrong claims": f"{figures['wrong']} of {figures['known']}" if figures["known"] else "",
        "retries a run": f"{fmean(retries):.1f}" if retries else "",
        "seconds a run": _format(figures["latency_ms"], 1000, ".1f"),
        "tokens a run": _format(figures["total_tokens"], 1, ",.0f"),
        "tokens a second": _format_rates(rates, "tokens_per_second", 1, ".1f"),
        "seconds to load": _format_rates(rates, "load_ms", 1000, ".1f"),
        "context used": _format_contexts(rates),
        "cost a run (USD)": _format(figures["cost_usd"], 1, ".4f"),
    }


def _format_share(passed: int, runs: int) -> str:
    interval = proportion(passed, runs).interval
    bounds = "" if interval is None else f" ({interval.low:.2f} to {interval.high:.2f})"
    return f"{passed} of {runs}{bounds}"


def _format(value: object, unit: float, form: str) -> str:
    return format(value / unit, form) if isinstance(value, int | float) else ""


def _list_rates(result: CaseResult) -> list[JsonObject]:
    models = as_object(as_object(result.agent_run.get("metadata")).get("rates"))
    return [as_object(rate) for rate in models.values()]


def _format_rates(rates: Sequence[JsonObject], name: str, unit: float, form: str) -> str:
    values = [value for rate in rates if isinstance(value := rate.get(name), int | float)]
    return _format(median(values), unit, form) if values else ""


def _format_contexts(rates: Sequence[JsonObject]) -> str:
    shares = [
        used / size
        for rate in rates
        if isinstance(used := rate.get("context_used"), int)
        and isinstance(size := rate.get("context_size"), int)
        and size > 0
    ]
    return f"{max(shares):.0%}" if shares else ""
