"""The runs for programs: start, list, follow, answer, continue and end them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import unquote
from uuid import NAMESPACE_OID, uuid5

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from orchestrator.errors import ConfigurationError
from orchestrator.persistence import History, RunSummary
from orchestrator.service.executions import Name, NewRun
from orchestrator.service.run_service import GivenAnswer
from orchestrator.service.run_view import OpenQuestion, list_questions
from orchestrator.serving.responses import RESPONSES, Service, run_address
from orchestrator.state.graph_state import StoredStatus
from orchestrator.state.records import Basis


def _blank_as_none(value: object) -> object:
    """Reads the empty field of a form as no filter."""
    return None if value == "" else value


_Blank = BeforeValidator(_blank_as_none)
_BlankStatus = BeforeValidator(_blank_as_none, json_schema_input_type=StoredStatus | Literal[""] | None)
_BlankBasis = BeforeValidator(_blank_as_none, json_schema_input_type=Basis | Literal[""] | None)
_Text = Annotated[str | None, Field(max_length=500), _Blank]


class RunQuery(BaseModel):
    """Which runs to list, the latest first, and from where.

    Attributes:
        status: Only runs with this status.
        basis: Only successes that rest on this.
        text: Only runs whose task contains this text.
        cursor: ``next`` of the page before.
        limit: Most runs on a page.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: Annotated[StoredStatus | None, _BlankStatus] = None
    basis: Annotated[Basis | None, _BlankBasis] = None
    text: _Text = None
    cursor: _Text = None
    limit: Annotated[int, Field(ge=1, le=200)] = 25


class RunPage(BaseModel):
    """A page of a list; ``next`` is the cursor of the following page, None on the last."""

    runs: list[RunSummary]
    next: str | None


def list_page(history: History, query: RunQuery) -> RunPage:
    """Returns one page of runs.

    Raises:
        ConfigurationError: The cursor is not accepted.
        StoreError: The store cannot be read.
    """
    runs = history.runs(task=query.text, **query.model_dump(exclude={"text"}))
    return RunPage(runs=runs, next=runs.next)


Thread: TypeAlias = Annotated[str, AfterValidator(unquote)]
"""The name of a run in a path; the guard leaves it encoded."""
router = APIRouter(prefix="/api", tags=["runs"], responses=RESPONSES)


class StartedRun(BaseModel):
    """A run that goes on in the background; ``page`` is the address of its page."""

    thread_id: str
    page: str


class Fork(BaseModel):
    """Where to fork a run: the first step to execute again, counted from 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: Annotated[int, Field(ge=1, lt=2**31)]
    new_thread_id: Name | None = None


class Cancellation(BaseModel):
    """Who ends a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cancelled_by: Annotated[str, Field(max_length=200)] = ""


@router.get("/runs")
def list_runs(service: Service, query: Annotated[RunQuery, Query()]) -> RunPage:
    """List runs, a page at a time; `next` is the `cursor` of the following page."""
    return list_page(service.history, query)


@router.post("/runs", status_code=201)
async def start_run(
    service: Service,
    run: NewRun,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=500)] = None,
) -> StartedRun:
    """Start a run. A request with the `thread_id` or the `Idempotency-Key` of another one gets a 409.

    A key names the run that it starts, so a request has either of the two.
    """
    return _describe_started(await service.start(_name_by_key(run, idempotency_key)))


def _name_by_key(run: NewRun, key: str | None) -> NewRun:
    if key is None:
        return run
    if run.thread_id is not None:
        raise ConfigurationError(
            f"a request has the thread_id {run.thread_id} and an Idempotency-Key; give one of the two"
        )
    return run.model_copy(update={"thread_id": str(uuid5(NAMESPACE_OID, key))})


@router.get("/questions")
def read_questions(service: Service) -> Sequence[dict[str, Any]]:
    """List the open questions of all runs, the oldest first."""
    return [_plain_question(each) for each in list_questions(service.history, service.builder)]


async def _find_existing(service: Service, thread_id: Thread) -> str:
    await run_in_threadpool(service.find, thread_id)
    return thread_id


@router.get("/runs/{thread_id}/events", response_class=EventSourceResponse)
async def follow_run(
    service: Service, thread_id: Annotated[str, Depends(_find_existing)]
) -> AsyncIterator[ServerSentEvent]:
    """Follow the events of a run as they are stored, from the first one to `end`."""
    async with aclosing(service.follow(thread_id)) as events:
        async for event in events:
            # A store holds only finite numbers, and times as texts.
            text = json.dumps({"thread_id": thread_id, **event.values})
            yield ServerSentEvent(raw_data=text, event=event.name, id=event.key)


@router.post("/runs/{thread_id}/answers", status_code=202)
async def answer_question(service: Service, thread_id: Thread, answer: GivenAnswer) -> StartedRun:
    """Answer the open question of a run; of two answers, the second gets the status 409."""
    await service.answer(thread_id, answer)
    return _describe_started(thread_id)


@router.post("/runs/{thread_id}/resume", status_code=202)
async def resume_run(service: Service, thread_id: Thread) -> StartedRun:
    """Resume a run that was interrupted, or judge again one that could not be judged."""
    await run_in_threadpool(service.find, thread_id)
    await service.resume(thread_id)
    return _describe_started(thread_id)


@router.post("/runs/{thread_id}/fork", status_code=201)
async def fork_run(service: Service, thread_id: Thread, fork: Fork) -> StartedRun:
    """Copy a run up to a step to a new run, and continue there."""
    name = await service.fork(thread_id, fork.step, fork.new_thread_id)
    return _describe_started(name)


@router.post("/runs/{thread_id}/cancel", status_code=202)
async def cancel_run(service: Service, thread_id: Thread, by: Cancellation | None = None) -> StartedRun:
    """End a run for good, as failed."""
    await service.cancel(thread_id, "" if by is None else by.cancelled_by)
    return _describe_started(thread_id)


@router.delete("/runs/{thread_id}", status_code=204)
async def delete_run(service: Service, thread_id: Thread) -> None:
    """Delete a run that is not being run."""
    await service.delete(thread_id)


@router.get("/runs/{thread_id}")
def read_run(service: Service, thread_id: Thread) -> dict[str, Any]:
    """Show a run with its whole state."""
    run = service.show(thread_id)
    return {**asdict(run.summary), "state": run.state}


def _describe_started(thread_id: str) -> StartedRun:
    return StartedRun(thread_id=thread_id, page=run_address(thread_id))


def _plain_question(item: OpenQuestion) -> dict[str, Any]:
    checks = [] if item.attempt is None else [*item.attempt.checks]
    return {"thread_id": item.thread_id, "task": item.task, "question": item.question, "checks": checks}
