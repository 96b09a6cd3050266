"""Renders the results of an evaluation as one HTML file, which needs no network and runs no text of a run."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evaluation.cases.case_result import CaseResult
from evaluation.contract.contract import ExpectedAction, TrajectoryRules
from evaluation.measures.action_differences import pair_closest
from evaluation.measures.trajectory_matching import MODES_WITHOUT_EXTRAS, StepPairs, select_compared
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins
from evaluation.report.report_model import Action, read_demands
from evaluation.reporting.summaries import rank_problems, summarize_arms
from evaluation.texts.normal import show_hidden
from evaluation.values import JsonObject

_FOLDER: Final = Path(__file__).parent
_TITLE: Final = "Evaluation"
_SCRIPTS: Final = ("d3.min.js", "plot.umd.min.js", "charts.js", "elements.js", "details.js", "cases.js")
"""d3 and Observable Plot, as their packages publish them with the licences beside them; and our scripts."""


def write_html(path: str | Path, results: Iterable[CaseResult], title: str = _TITLE) -> None:
    """Write the results of an evaluation as one HTML file, which a browser opens from disk.

    Args:
        path: The file. An existing one is replaced.
        results: The results, with their runs; results of the same name are attempts at one case.
        title: The heading.

    Raises:
        OSError: The file cannot be written.
    """
    Path(path).write_text(render_results(results, title), encoding="utf-8")


def render_results(results: Iterable[CaseResult], title: str = _TITLE) -> str:
    """Render the results as HTML.

    All texts of the results are compressed data in the page, which its scripts show as text; nothing of them
    becomes HTML, and the policy of the page lets no other script run.
    """
    kept = list(results)
    first = [each._asdict() for each in rank_problems(kept)]
    data = {"title": title, "arms": summarize_arms(kept), "cases": _group_cases(kept), "first": first}
    # The header of gzip would have the time, and two pages of the same results would differ.
    text = show_hidden(json.dumps(data, allow_nan=False, ensure_ascii=False))
    packed = gzip.compress(text.encode(), mtime=0)
    return _render_template(base64.b64encode(packed).decode())


def _group_cases(results: Iterable[CaseResult]) -> list[JsonObject]:
    cases: defaultdict[str, list[JsonObject]] = defaultdict(list)
    for result in results:
        cases[result.name].append(_describe_attempt(result))
    return [{"name": name, "attempts": attempts} for name, attempts in cases.items()]


def _describe_attempt(result: CaseResult) -> JsonObject:
    plain = result.model_dump(mode="json", exclude={"name"})
    shown = "clean" if result.is_clean else result.status
    return {**plain, "status": shown, "verified": result.verified, "actions": pair_actions(result)}


def _render_template(data: str) -> str:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    scripts = [_read_static(name) for name in _SCRIPTS]
    return environment.get_template("case_page.html").render(
        data=data,
        style=_read_static("report.css"),
        scripts=scripts,
        script_sources=Markup(" ".join(map(_hash_script, scripts))),  # noqa: S704 - our hashes
    )


@cache
def _read_static(name: str) -> Markup:
    return Markup((_FOLDER / "static" / name).read_text(encoding="utf-8"))  # noqa: S704 - a file of this package


def _hash_script(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


_MOST_COMPARED: Final = 100_000
"""Most pairs of a step and an action that are compared."""


class _Pair(NamedTuple):
    """The positions of an expected step and of its action, and the places in which the two differ."""

    step: int
    action: int
    differences: Sequence[str] = ()


def pair_actions(result: CaseResult) -> JsonObject:
    """Return the actions of a result, the expected ones, and which belong together.

    Returns:
        ``steps``: for each expected step its alternatives; ``actions``: the fields of each observed action
        that have a value; ``pairs``: positions of a step and an action, and the JSON Pointers of the
        arguments that differ; ``compared_steps`` and ``compared_actions``: the
        positions that the contract compares; ``extras_fail``: whether an action that is not expected fails.
    """
    state = prepare_evaluation({**result.expected, "agent_run": result.agent_run}, Plugins())
    contract, actions = read_demands(state).rules, state["actual_trajectory"]
    rules, steps = contract.trajectory, contract.expected_trajectory or []
    selected_actions, selected_steps = select_compared(actions, steps, rules)
    compared_steps, compared_actions = (
        _find_places(steps, selected_steps),
        _find_places(actions, selected_actions),
    )
    return {
        "steps": [_describe_step(step) for step in steps],
        "actions": [
            {name: value for name, value in action.items() if value is not None} for action in actions
        ],
        "pairs": [
            (compared_steps[pair.step], compared_actions[pair.action], pair.differences)
            for pair in _list_pairs(selected_steps, selected_actions, rules)
        ],
        "extras_fail": state["trajectory_match_mode"] in MODES_WITHOUT_EXTRAS or not selected_steps,
        "compared_steps": compared_steps,
        "compared_actions": compared_actions,
    }


def _describe_step(step: ExpectedAction) -> JsonObject:
    return {"alternatives": [each.model_dump(mode="json", exclude_unset=True) for each in step.patterns]}


def _find_places(items: Sequence[object], selected: Iterable[object]) -> list[int]:
    """Return the positions of the selected items."""
    kept = {id(item) for item in selected}
    return [index for index, item in enumerate(items) if id(item) in kept]


def _list_pairs(
    steps: Sequence[ExpectedAction], actions: Sequence[Action], rules: TrajectoryRules
) -> Iterator[_Pair]:
    if len(steps) * len(actions) > _MOST_COMPARED:
        return
    pairs = StepPairs.of(steps, actions, rules)
    yield from (_Pair(step, action) for step, action in pairs.assigned.items())
    for step, action, differences in pair_closest(pairs.missing, pairs.extra, rules):
        yield _Pair(step, action, [each.path for each in differences])
