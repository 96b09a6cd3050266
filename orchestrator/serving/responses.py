"""Renders the pages, and turns errors into answers: a status and one sentence, as page or JSON problem."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import quote, urlencode

from fastapi import Depends
from fastapi.exceptions import RequestValidationError
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from agents.errors import ModelSetupError, ModelSpecError
from evaluation.texts.normal import show_hidden
from orchestrator.errors import ConfigurationError, OrchestratorError, StoreLostError
from orchestrator.service.run_service import RunConflictError, RunService, UnknownRunError
from orchestrator.service.run_view import find_judge_reason, list_checks
from orchestrator.state.graph_state import sum_usage
from orchestrator.state.plain_values import format_one_line

FOLDER: Final = Path(__file__).parent
PAGES: Final = (("/", "Inbox"), ("/runs", "Runs"), ("/start", "Start"))


def get_service(request: Request) -> RunService:
    """Returns the service of the server that answers a request."""
    service: RunService = request.app.state.service
    return service


Service: TypeAlias = Annotated[RunService, Depends(get_service)]


def render(request: Request, template: str, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """Renders a template as the answer to a request."""
    shared = {
        "path": request.url.path,
        "pages": PAGES,
        "read_only": getattr(request.state, "read_only", False),
    }
    text = _ENVIRONMENT.get_template(template).render({**shared, **values})
    return HTMLResponse(text, status)


def format_time(value: datetime | str | None) -> str:
    """Formats a time in UTC; None is empty."""
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    return "" if time is None else f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


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


def _finish(value: object) -> object:
    """Shows the hidden characters of a text; text for a program has the filter ``exact``."""
    return show_hidden(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _build_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finish,
    )
    environment.filters.update(
        time=format_time,
        pretty=format_json,
        run_address=run_address,
        json_address=json_address,
        exact=escape,
        checks=list_checks,
        judge_reason=find_judge_reason,
        sum_usage=sum_usage,
    )
    return environment


_ENVIRONMENT: Final = _build_environment()


_STATUSES: Final[Mapping[type[Exception], int]] = {
    UnknownRunError: 404,
    StoreLostError: 503,
    ConfigurationError: 422,
    OrchestratorError: 409,
    ModelSetupError: 409,
    ModelSpecError: 422,
}
"""The status of each error; the first class that fits."""


class Problem(BaseModel):
    """A problem in one sentence, as RFC 9457 says."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"


RESPONSES: Final[dict[int | str, dict[str, Any]]] = {name: {"model": Problem} for name in ("4XX", 422)}
"""The errors of every operation, for OpenAPI."""
KNOWN_ERRORS: Final[tuple[type[Exception], ...]] = (*_STATUSES, RequestValidationError, HTTPException)


def is_for_program(request: Request) -> bool:
    """Returns whether the answer is JSON, and not a page."""
    return request.url.path.startswith("/api/")


def answer_error(request: Request, error: Exception) -> Response:
    """Answers a request whose handling raised."""
    status, sentence = _describe(error)
    response = answer_problem(request, status, sentence)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


def answer_problem(request: Request, status: int, sentence: str) -> Response:
    """Answers with a status and one sentence: as RFC 9457 says for programs, else as a page."""
    title = HTTPStatus(status).phrase
    if is_for_program(request):
        fields = Problem(title=title, status=status, detail=sentence).model_dump()
        return JSONResponse(fields, status, media_type="application/problem+json")
    template = "problem_part.html" if request.headers.get("hx-request") else "problem.html"
    return render(request, template, {"title": title, "sentence": sentence}, status)


def _describe(error: Exception) -> tuple[int, str]:
    if isinstance(error, RequestValidationError):
        parts = [f"{'.'.join(map(str, each['loc'][1:])) or 'body'}: {each['msg']}" for each in error.errors()]
        return 422, f"the request is not accepted: {'; '.join(parts)}"
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail)
    status = next(number for known, number in _STATUSES.items() if isinstance(error, known))
    # The command that continues a run is not cut.
    is_whole = isinstance(error, UnknownRunError | RunConflictError)
    return status, str(error) if is_whole else format_one_line(error)
