"""The pages: inbox, runs, one run, and start of a run; and what their forms do."""

from __future__ import annotations

from typing import Annotated, Final, get_args

from fastapi import APIRouter, Form, Query
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from orchestrator.service.executions import NewRun
from orchestrator.service.run_service import GivenAnswer
from orchestrator.service.run_view import MOST_QUESTIONS, build_run_view, list_questions
from orchestrator.serving.responses import Service, build_address, render, run_address
from orchestrator.serving.run_api import RunQuery, list_page
from orchestrator.state.graph_state import STATUSES
from orchestrator.state.records import Basis

_REFRESHED: Final = (*("end", "Planned", "StepExecuted", "StepJudged", "RunPaused", "RunFinished"),)
"""The events that load the page of a run again."""
_Thread = Annotated[str, Form(min_length=1)]
router = APIRouter(include_in_schema=False)


class AnswerForm(GivenAnswer):
    """The form of an answer."""

    thread_id: str


class StartForm(BaseModel):
    """The form of a new run."""

    model_config = ConfigDict(extra="forbid")

    task: str
    thread_id: str = ""
    approve: bool = False
    review: bool = False


@router.get("/")
def show_inbox(request: Request, service: Service) -> Response:
    """Shows the open questions."""
    questions = list_questions(service.history, service.builder)
    values = {"questions": questions, "most": MOST_QUESTIONS}
    return render(request, "inbox.html", values)


@router.get("/runs")
def show_runs(request: Request, service: Service, query: Annotated[RunQuery, Query()]) -> Response:
    """Lists the runs."""
    listed = list_page(service.history, query)
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
    }
    return render(request, "runs.html", values)


@router.get("/run")
def show_run(request: Request, service: Service, thread_id: str) -> Response:
    """Shows a run."""
    run = service.show(thread_id)
    can_resume = run.summary.can_resume and run.summary.question is None
    problem = service.builder.find_problem(thread_id) if can_resume else None
    values = {
        "view": build_run_view(run),
        "refreshed": _REFRESHED,
        "can_change": not request.app.state.options.read_only,
        "resume_problem": problem,
    }
    return render(request, "run.html", values)


@router.post("/answer")
async def answer(request: Request, service: Service, form: Annotated[AnswerForm, Form()]) -> Response:
    """Answers a question."""
    await service.answer(form.thread_id, form)
    return _go_to(request, run_address(form.thread_id))


@router.get("/start")
def show_start(request: Request, service: Service) -> Response:
    """Shows the form of a new run."""
    return render(request, "start.html", {"has_tools": service.builder.has_tools})


@router.post("/start")
async def start(request: Request, service: Service, form: Annotated[StartForm, Form()]) -> Response:
    """Starts a run."""
    run = NewRun(
        task=form.task,
        thread_id=form.thread_id or None,
        acting_tools=["all:approve"] if form.approve else None,
        supervise="human" if form.review else None,
    )
    return _go_to(request, run_address(await service.start(run)))


@router.post("/run/resume")
async def resume(request: Request, service: Service, thread_id: _Thread) -> Response:
    """Resumes a run."""
    await service.resume(thread_id)
    return _go_to(request, run_address(thread_id))


@router.post("/run/cancel")
async def cancel(request: Request, service: Service, thread_id: _Thread) -> Response:
    """Ends a run."""
    await service.cancel(thread_id, "")
    return _go_to(request, run_address(thread_id))


@router.post("/run/fork")
async def fork(
    request: Request,
    service: Service,
    thread_id: _Thread,
    step: Annotated[int, Form(ge=1, lt=2**31)],
    new_thread_id: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Forks a run."""
    name = await service.fork(thread_id, step, new_thread_id or None)
    return _go_to(request, run_address(name))


@router.post("/run/delete")
async def delete(request: Request, service: Service, thread_id: _Thread) -> Response:
    """Deletes a run."""
    await service.delete(thread_id)
    return _go_to(request, "/runs")


def _go_to(request: Request, address: str) -> Response:
    """Sends the browser to a page; htmx follows a header of its own."""
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)
