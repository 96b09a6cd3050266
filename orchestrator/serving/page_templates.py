"""Renders the templates of the pages. Every text is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from orchestrator.errors import StoreError

FOLDER: Final = Path(__file__).parent
PAGES: Final = (
    *(("/", "Inbox"), ("/runs", "Runs"), ("/start", "Start"), ("/compare", "Compare")),
    ("/queue", "Queue"),
)
_MINUTE_S: Final = 60.0
_MILLISECONDS: Final = 1000


def render(request: Request, template: str, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """Renders a template as the answer to a request."""
    shared = {
        "path": request.url.path,
        "pages": PAGES,
        "csrf": getattr(request.state, "csrf", ""),
        "read_only": getattr(request.state, "read_only", False),
        "is_logged_in": getattr(request.state, "is_logged_in", False),
        "open_questions": _count_questions(request),
    }
    text = _ENVIRONMENT.get_template(template).render({**shared, **values})
    return HTMLResponse(text, status)


def _count_questions(request: Request) -> int:
    """Returns the number of open questions for a client that may see them, else 0."""
    if getattr(request.state, "is_known", False):
        with suppress(StoreError):  # the page of that error is being rendered
            number: int = request.app.state.context.history.count_waiting()
            return number
    return 0


def format_time(value: datetime | str | None) -> str:
    """Formats a time in UTC; other text stays, and None is empty."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return str(value)
    return "" if value is None else f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def format_duration(milliseconds: float | None) -> str:
    """Formats a time in milliseconds as "850 ms", "2.4 s" or "3 min 20 s"."""
    if milliseconds is None:
        return ""
    if milliseconds < _MILLISECONDS:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / _MILLISECONDS
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    return f"{seconds // _MINUTE_S:.0f} min {seconds % _MINUTE_S:.0f} s"


def format_json(value: object) -> str:
    """Formats a JSON value in lines, for people."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def run_address(thread_id: str) -> str:
    """Returns the address of the page of a run."""
    return build_address("/run", {"thread_id": thread_id})


def json_address(thread_id: str) -> str:
    """Returns the address of the JSON of a run; a slash in its name is encoded."""
    return f"/api/runs/{quote(thread_id, safe='')}"


def build_address(path: str, values: Mapping[str, object]) -> str:
    """Returns a path with its parameters."""
    return f"{path}?{urlencode(values)}" if values else path


def _build_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        time=format_time,
        duration=format_duration,
        pretty=format_json,
        run_address=run_address,
        json_address=json_address,
    )
    return environment


_ENVIRONMENT: Final = _build_environment()
