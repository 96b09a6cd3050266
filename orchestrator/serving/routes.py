"""The pages for people, with what their forms do, and the runs as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated, Any, Final, Literal, get_args
from uuid import NAMESPACE_OID, uuid5

from fastapi import APIRouter, Depends, Form, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from orchestrator.errors import ConfigurationError
from orchestrator.persistence import RunSummary
from orchestrator.service.executions import Name, NewRun
from orchestrator.service.run_service import GivenAnswer
from orchestrator.service.run_view import (
    MOST_QUESTIONS,
    list_effects_under_way,
    list_questions,
    list_steps,
)
from orchestrator.serving.responses import RESPONSES, Service, build_address, render, run_address
from orchestrator.state.graph_state import STATUSES, StoredStatus, read_basis_reason
from orchestrator.state.records import Basis

_Text = Annotated[str | None, Field(max_length=500)]


class _Form(BaseModel):
    """Reads an empty field of a form as one that is left out."""

    @model_validator(mode="before")
    @classmethod
    def _leave_out_blank(cls, fields: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in fields.items() if value != ""}


class RunQuery(_Form):
    """Which runs to list, the latest first, and from where.

    Attributes:
        status: Only runs with this status.
        basis: Only successes that rest on this.
        text: Only runs whose task contains this text.
        cursor: ``next`` of the page before.
        limit: Most runs on a page.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: StoredStatus | None = None
    basis: Basis | None = None
    text: _Text = None
    cursor: _Text = None
    limit: Annotated[int, Field(ge=1, le=200)] = 25


class RunPage(BaseModel):
    """A page of a list; ``next`` is the cursor of the following page, None on the last."""

    runs: list[RunSummary]
    next: str | None


def list_runs(service: Service, query: Annotated[RunQuery, Query()]) -> RunPage:
    """List runs, a page at a time; `next` is the `cursor` of the following page."""
    runs = service.history.runs(task=query.text, **query.model_dump(exclude={"text"}))
    return RunPage(runs=runs, next=runs.next)


_REFRESHED: Final = ("end", "Planned", "StepExecuted", "StepJudged", "RunPaused", "RunFinished")
"""The events that load the page of a run again."""
_Thread = Annotated[str, Form(min_length=1)]
pages = APIRouter(include_in_schema=False)


class AnswerForm(GivenAnswer):
    """The form of an answer."""

    thread_id: str


class StartForm(_Form, NewRun):
    """The form of a new run."""


@pages.get("/")
def show_inbox(request: Request, service: Service) -> Response:
    """Shows the open questions."""
    waiting = list_questions(service.history)
    problems = {run.thread_id: service.sessions.builder.find_problem(run.thread_id) for run in waiting}
    return render(request, "inbox.html", {"waiting": waiting, "problems": problems, "most": MOST_QUESTIONS})


@pages.get("/runs")
def show_runs(request: Request, service: Service, query: Annotated[RunQuery, Query()]) -> Response:
    """Lists the runs."""
    listed = list_runs(service, query)
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


@pages.get("/run")
def show_run(request: Request, service: Service, thread_id: str) -> Response:
    """Shows a run."""
    run = service.show(thread_id)
    can_resume = run.summary.can_resume and run.summary.question is None
    values = {
        "view": run,
        "steps": [*list_steps(run)],
        "under_way": list_effects_under_way(run.state),
        "basis_reason": read_basis_reason(run.state),
        "refreshed": _REFRESHED,
        "resume_problem": service.sessions.builder.find_problem(thread_id) if can_resume else None,
    }
    return render(request, "run.html", values)


@pages.post("/answer")
async def answer(request: Request, service: Service, form: Annotated[AnswerForm, Form()]) -> Response:
    """Answers a question."""
    await service.answer(form.thread_id, form)
    return _go_to(request, run_address(form.thread_id))


@pages.get("/start")
def show_start(request: Request) -> Response:
    """Shows the form of a new run."""
    return render(request, "start.html", {})


@pages.post("/start")
async def start(request: Request, service: Service, form: Annotated[StartForm, Form()]) -> Response:
    """Starts a run."""
    return _go_to(request, run_address(await service.start(form)))


@pages.post("/run/fork")
async def fork(
    request: Request,
    service: Service,
    thread_id: _Thread,
    step: Annotated[int, Form(ge=1, lt=2**31)],
    new_thread_id: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Forks a run."""
    return _go_to(request, run_address(await service.fork(thread_id, step, new_thread_id or None)))


@pages.post("/run/{action}")
async def change(
    request: Request, service: Service, action: Literal["resume", "cancel", "delete"], thread_id: _Thread
) -> Response:
    """Resumes, ends or deletes a run."""
    await getattr(service, action)(thread_id)
    return _go_to(request, "/runs" if action == "delete" else run_address(thread_id))


def _go_to(request: Request, address: str) -> Response:
    """Sends the browser to a page; htmx follows a header of its own."""
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)


programs = APIRouter(prefix="/api", tags=["runs"], responses=RESPONSES)


class Fork(BaseModel):
    """The first step that the copy of a run executes, from 1, and its name; without one, it gets a name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: Annotated[int, Field(ge=1, lt=2**31)]
    new_thread_id: Name | None = None


class Cancellation(BaseModel):
    """Who ends a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cancelled_by: Annotated[str, Field(max_length=200)] = ""


class StartedRun(BaseModel):
    """A run that goes on in the background; ``page`` is the address of its page."""

    thread_id: str
    page: str


programs.get("/runs")(list_runs)


@programs.post("/runs", status_code=201)
async def start_run(
    service: Service,
    run: NewRun,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=500)] = None,
) -> StartedRun:
    """Start a run. A request with the `thread_id` or the `Idempotency-Key` of another one gets a 409.

    A key names the run that it starts, so a request has either of the two.
    """
    if idempotency_key is not None:
        if run.thread_id is not None:
            raise ConfigurationError(
                f"a request has the thread_id {run.thread_id} and an Idempotency-Key; give one of the two"
            )
        run = run.model_copy(update={"thread_id": str(uuid5(NAMESPACE_OID, idempotency_key))})
    return _describe_started(await service.start(run))


@programs.get("/questions")
def read_questions(service: Service) -> list[RunSummary]:
    """List the runs with an open question, the oldest first."""
    return list_questions(service.history)


async def _find_existing(service: Service, thread_id: str) -> str:
    await run_in_threadpool(service.find, thread_id)
    return thread_id


@programs.get("/runs/{thread_id:path}/events", response_class=EventSourceResponse)
async def follow_run(
    service: Service, thread_id: Annotated[str, Depends(_find_existing)]
) -> AsyncIterator[ServerSentEvent]:
    """Follow the events of a run as they are stored, from the first one to `end`."""
    async with aclosing(service.follow(thread_id)) as events:
        async for event in events:
            # A store holds only finite numbers, and times as texts.
            text = json.dumps({"thread_id": thread_id, **event.values})
            yield ServerSentEvent(raw_data=text, event=event.name, id=event.key)


@programs.post("/runs/{thread_id:path}/answers", status_code=202)
async def answer_question(service: Service, thread_id: str, answer: GivenAnswer) -> StartedRun:
    """Answer the open question of a run; of two answers, the second gets the status 409."""
    await service.answer(thread_id, answer)
    return _describe_started(thread_id)


@programs.post("/runs/{thread_id:path}/resume", status_code=202)
async def resume_run(service: Service, thread_id: str) -> StartedRun:
    """Resume a run that was interrupted, or judge again one that could not be judged."""
    await service.resume(thread_id)
    return _describe_started(thread_id)


@programs.post("/runs/{thread_id:path}/fork", status_code=201)
async def fork_run(service: Service, thread_id: str, fork: Fork) -> StartedRun:
    """Copy a run up to a step, counted from 1, to a new run, and continue there."""
    return _describe_started(await service.fork(thread_id, fork.step, fork.new_thread_id))


@programs.post("/runs/{thread_id:path}/cancel", status_code=202)
async def cancel_run(
    service: Service, thread_id: str, cancellation: Cancellation | None = None
) -> StartedRun:
    """End a run for good, as failed."""
    await service.cancel(thread_id, cancellation.cancelled_by if cancellation else "")
    return _describe_started(thread_id)


@programs.delete("/runs/{thread_id:path}", status_code=204)
async def delete_run(service: Service, thread_id: str) -> None:
    """Delete a run that is not being run."""
    await service.delete(thread_id)


@programs.get("/runs/{thread_id:path}")
def read_run(service: Service, thread_id: str) -> dict[str, Any]:
    """Show a run with its whole state."""
    run = service.show(thread_id)
    return {**asdict(run.summary), "state": run.state}


def _describe_started(thread_id: str) -> StartedRun:
    return StartedRun(thread_id=thread_id, page=run_address(thread_id))
