"""Evaluates a run against a contract, and compares runs and evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from evaluation import evaluate, run_from_state
from orchestrator.serving.http_problems import RESPONSES, RequestProblem
from orchestrator.serving.page_templates import build_address, render
from orchestrator.serving.server_context import Context, ServerContext
from orchestrator.serving.views.comparison_view import (
    CompareQuery,
    Comparison,
    compare_evaluations,
    compare_runs,
    list_evaluations,
)

_LISTED = 100
"""Most runs that the page offers."""
router = APIRouter(tags=["evaluations"], responses=RESPONSES)


class RequestedEvaluation(BaseModel):
    """What to evaluate: a recorded run, or a stored one by its name, and the fields of a contract."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: dict[str, JsonValue] | None = None
    thread_id: str | None = None
    contract: dict[str, JsonValue] = {}


@router.post("/api/evaluations")
def evaluate_run(context: Context, requested: RequestedEvaluation) -> dict[str, Any]:
    """Evaluate a run against a contract, without a model, and return the report."""
    if (requested.run is None) == (requested.thread_id is None):
        raise RequestProblem(422, "run and thread_id are both given or both missing; give one of them")
    run: object = requested.run
    if requested.thread_id is not None:
        run = run_from_state(context.show_run(requested.thread_id).state)
    report = evaluate({**requested.contract, "agent_run": run})
    if report.status == "invalid":
        raise RequestProblem(422, "; ".join(report.errors))
    return report.model_dump(mode="json")


@router.get("/api/compare")
def compare(context: Context, query: Annotated[CompareQuery, Query()]) -> Comparison:
    """Compare two runs, or two stored evaluations: what changed sides, or everything."""
    if query.kind == "runs":
        left, right = context.show_run(query.left), context.show_run(query.right)
        return compare_runs(left, right, query.show)
    files = _find_file(context, query.left), _find_file(context, query.right)
    return compare_evaluations(*files, query.show)


def _find_file(context: ServerContext, name: str) -> Path:
    folder = context.options.evaluations
    # By the listing alone, so that no name leads out of the folder.
    if folder is None or name not in list_evaluations(folder):
        raise RequestProblem(404, f"there is no evaluation {name!r} in the folder of --evaluations")
    return folder / name


@router.get("/compare", include_in_schema=False)
def show_comparison(request: Request, context: Context, query: Annotated[CompareQuery, Query()]) -> Response:
    """Shows two runs or two evaluations side by side."""
    compared = compare(context, query) if query.left and query.right else None
    values = {
        "query": query,
        "compared": compared,
        "files": list_evaluations(context.options.evaluations),
        "runs": context.history.runs(limit=_LISTED),
        "json_address": build_address("/api/compare", query.model_dump()),
    }
    return render(request, "compare.html", values)
