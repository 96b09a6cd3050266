"""Lists stored runs with filters, an order and pages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from orchestrator.errors import StoreError
from orchestrator.persistence import History, RunSummary
from orchestrator.runs.reader import StoredStatus
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Basis
from orchestrator.state.usage import NO_USAGE

SortKey = Literal["updated", "started", "task", "status"]
Order = Literal["desc", "asc"]


def _blank_as_none(value: object) -> object:
    """Reads the empty field of a form as no filter."""
    return None if value == "" else value


_Blank = BeforeValidator(_blank_as_none)
_Text = Annotated[str | None, Field(max_length=500), _Blank]


class RunQuery(BaseModel):
    """Which runs to list, in which order, and from where.

    Attributes:
        status: Only runs with this status.
        basis: Only successes that rest on this.
        text: Only runs whose task contains this text.
        model: Only runs that called a model whose name contains this text.
        sort: The field that orders them.
        order: "desc" for the greatest first.
        cursor: ``next`` of the page before.
        limit: Most runs on a page.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: Annotated[StoredStatus | None, _Blank] = None
    basis: Annotated[Basis | None, _Blank] = None
    text: _Text = None
    model: _Text = None
    sort: SortKey = "updated"
    order: Order = "desc"
    cursor: Annotated[int, Field(ge=0, lt=2**31)] = 0
    limit: Annotated[int, Field(ge=1, le=200)] = 25


class RunRow(BaseModel):
    """One line about a run; ``basis``, ``models`` and tokens are None or empty if they cannot be read."""

    thread_id: str
    status: StoredStatus
    task: str
    basis: Basis | None
    models: list[str]
    steps_done: int
    steps_planned: int
    started: datetime | None
    updated: datetime
    total_tokens: int | None
    cost_usd: float | None
    latency_ms: float


class RunPage(BaseModel):
    """A page of a list; ``next`` is the cursor of the following page, None on the last."""

    runs: list[RunRow]
    next: int | None


def list_page(history: History, query: RunQuery) -> RunPage:
    """Returns one page of runs.

    Raises:
        StoreError: The store cannot be read.
    """
    runs = history.runs(status=query.status, task=query.text)
    if (query.sort, query.order) != ("updated", "desc"):
        runs = sorted(runs, key=lambda run: _sort_value(run, query.sort), reverse=query.order == "desc")
    end = query.cursor + query.limit
    if query.basis is None and query.model is None:
        rows = [_build_row(history, run) for run in runs[query.cursor : end]]
        return RunPage(runs=rows, next=end if len(runs) > end else None)
    rows = [row for run in runs if _matches(row := _build_row(history, run), query)]
    return RunPage(runs=rows[query.cursor : end], next=end if len(rows) > end else None)


def _build_row(history: History, run: RunSummary) -> RunRow:
    state, usage = _read_state(history, run), run.usage or NO_USAGE
    return RunRow(
        thread_id=run.thread_id,
        status=run.status,
        task=run.task,
        basis=None if state is None or run.status != "success" else state["basis"],
        models=[] if state is None else list_models(state),
        steps_done=run.steps_done,
        steps_planned=run.steps_planned,
        started=run.started,
        updated=run.updated,
        total_tokens=usage["total_tokens"],
        cost_usd=usage["cost_usd"],
        latency_ms=usage["latency_ms"],
    )


def _read_state(history: History, run: RunSummary) -> OrchestratorState | None:
    try:
        return None if run.status == "unreadable" else history.show(run.thread_id).state
    except StoreError:  # deleted meanwhile, or broken
        return None


def list_models(state: OrchestratorState) -> list[str]:
    """Returns the names of the models that the executor called, each once."""
    records = [*state["results"], *state["synthesis"]]
    return list(dict.fromkeys(record["model"] for record in records if record["model"]))


def _matches(row: RunRow, query: RunQuery) -> bool:
    has_basis = query.basis is None or row.basis == query.basis
    name = (query.model or "").casefold()
    return has_basis and (not name or any(name in model.casefold() for model in row.models))


def _sort_value(run: RunSummary, key: SortKey) -> tuple[bool, str]:
    value = {"updated": run.updated, "started": run.started, "task": run.task, "status": run.status}[key]
    text = value.isoformat() if isinstance(value, datetime) else str(value or "")
    return value is not None, text.casefold()
