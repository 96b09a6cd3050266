"""The pages that show runs: the list, and one run."""

from __future__ import annotations

from typing import Annotated, Final, get_args

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from orchestrator.queue.queue_status import read_queue_status
from orchestrator.runs.run_selection import STATUSES, SortKey
from orchestrator.serving.page_templates import build_address, render
from orchestrator.serving.server_context import Context
from orchestrator.serving.views.run_listing import RunQuery, list_page
from orchestrator.serving.views.run_view import build_run_view
from orchestrator.state.records import Basis

_REFRESHED: Final = (
    *("end", "Planned", "Replanned", "StepExecuted", "StepJudged", "StepRetried"),
    *("RunResumed", "RunPaused", "RunFinished", "RunInterrupted"),
)
"""The events that load the page of a run again."""
router = APIRouter(include_in_schema=False)


@router.get("/runs")
def show_runs(request: Request, context: Context, query: Annotated[RunQuery, Query()]) -> Response:
    """Lists the runs."""
    listed = list_page(context.history, query)
    chosen = query.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    values = {
        "query": query,
        "listed": listed,
        "here": build_address("/runs", chosen),
        "first_address": build_address("/runs", {**chosen, "cursor": ""}),
        "next_address": build_address("/runs", {**chosen, "cursor": listed.next}),
        "json_address": build_address("/api/runs", chosen),
        "statuses": STATUSES,
        "bases": get_args(Basis),
        "sorts": get_args(SortKey),
    }
    return render(request, "runs.html", values)


@router.get("/queue")
def show_queue(request: Request, context: Context) -> Response:
    """Shows the jobs of the queues, and the workers with their last sign of life."""
    return render(request, "queue.html", {"status": read_queue_status(context.saver)})


@router.get("/run")
def show_run(request: Request, context: Context, thread_id: str) -> Response:
    """Shows a run."""
    run = context.show_run(thread_id)
    is_stopped = run.summary.status == "interrupted"
    problem = context.builder.find_problem(thread_id) if is_stopped else None
    values = {
        "view": build_run_view(run),
        "refreshed": _REFRESHED,
        "can_change": not context.options.read_only,
        "resume_problem": problem or "",
        "resume_command": "" if problem is None else context.builder.describe_next(thread_id, None),
    }
    return render(request, "run.html", values)
