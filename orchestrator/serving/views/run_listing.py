"""Lists stored runs with filters, an order and pages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from orchestrator.persistence import History, RunSummary
from orchestrator.runs.run_selection import Order, SortKey, StoredStatus
from orchestrator.state.records import Basis


def _blank_as_none(value: object) -> object:
    """Reads the empty field of a form as no filter."""
    return None if value == "" else value


_Blank = BeforeValidator(_blank_as_none)
_BlankStatus = BeforeValidator(_blank_as_none, json_schema_input_type=StoredStatus | Literal[""] | None)
_BlankBasis = BeforeValidator(_blank_as_none, json_schema_input_type=Basis | Literal[""] | None)
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

    status: Annotated[StoredStatus | None, _BlankStatus] = None
    basis: Annotated[Basis | None, _BlankBasis] = None
    text: _Text = None
    model: _Text = None
    sort: SortKey = "updated"
    order: Order = "desc"
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
    runs = history.runs(
        status=query.status,
        task=query.text,
        model=query.model,
        basis=query.basis,
        limit=query.limit,
        cursor=query.cursor,
        sort=query.sort,
        order=query.order,
    )
    return RunPage(runs=runs, next=runs.next)
