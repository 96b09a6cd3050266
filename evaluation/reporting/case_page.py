"""Renders the results of an evaluation as one HTML file, which needs no network and runs no text of a run."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evaluation.cases.case_result import CaseResult
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins
from evaluation.reporting.summaries import rank_problems, summarize_arms
from evaluation.texts.normal import show_hidden
from evaluation.values import JsonObject, group_by

_FOLDER: Final = Path(__file__).parent
_TITLE: Final = "Evaluation"
_SCRIPTS: Final = ("d3.min.js", "plot.umd.min.js", "charts.js", "elements.js", "details.js", "cases.js")
"""d3 and Observable Plot, as their packages publish them with the licences beside them; and our scripts."""


def write_html(
    path: str | Path,
    results: Iterable[CaseResult],
    title: str = _TITLE,
    worth: Sequence[JsonObject] = (),
) -> None:
    """Write the results of an evaluation as one HTML file, which a browser opens from disk.

    Args:
        path: The file. An existing one is replaced.
        results: The results, with their runs; results of the same name are attempts at one case.
        title: The heading.
        worth: What ``orchestrator worth --json`` prints of each model or policy.

    Raises:
        OSError: The file cannot be written.
    """
    Path(path).write_text(render_results(results, title, worth), encoding="utf-8")


def render_results(
    results: Iterable[CaseResult], title: str = _TITLE, worth: Sequence[JsonObject] = ()
) -> str:
    """Render the results as HTML.

    All texts of the results are compressed data in the page, which its scripts show as text; nothing of them
    becomes HTML, and the policy of the page lets no other script run.
    """
    kept = list(results)
    first = [each._asdict() for each in rank_problems(kept)]
    figures = {"arms": summarize_arms(kept), "worth": worth}
    data = {"title": title, **figures, "cases": _group_cases(kept), "first": first}
    # The header of gzip would have the time, and two pages of the same results would differ.
    text = show_hidden(json.dumps(data, allow_nan=False, ensure_ascii=False))
    packed = gzip.compress(text.encode(), mtime=0)
    return _render_template(base64.b64encode(packed).decode())


def _group_cases(results: Iterable[CaseResult]) -> list[JsonObject]:
    cases = group_by(results, lambda result: result.name)
    return [{"name": name, "attempts": [*map(_describe_attempt, group)]} for name, group in cases.items()]


def _describe_attempt(result: CaseResult) -> JsonObject:
    plain = result.model_dump(mode="json", exclude={"name"})
    shown = "clean" if result.is_clean else result.status
    return {**plain, "status": shown, "verified": result.verified, "actions": list_actions(result)}


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


def list_actions(result: CaseResult) -> JsonObject:
    """Return the expected ``steps`` and the observed ``actions``."""
    state = prepare_evaluation({**result.expected, "agent_run": result.agent_run}, Plugins())
    expected, actions = state["demands"].rules.expected_trajectory or [], state["actual_trajectory"]
    return {
        "steps": [step.model_dump(mode="json", exclude_unset=True) for step in expected],
        "actions": [{name: value for name, value in each.items() if value is not None} for each in actions],
    }
