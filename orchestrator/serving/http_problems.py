"""Turns errors into answers: a status and one sentence, as a page, a part of a page, or a JSON problem."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agents.errors import ModelSetupError, ModelSpecError
from evaluation.errors import ContractError
from orchestrator.errors import ConfigurationError, OrchestratorError, StoreLostError
from orchestrator.serving.page_templates import render
from orchestrator.state.plain_values import format_one_line

PROBLEM: Final = "application/problem+json"
_STATUSES: Final[Mapping[type[Exception], int]] = {
    StoreLostError: 503,
    ConfigurationError: 422,
    OrchestratorError: 409,
    ContractError: 422,
    ModelSetupError: 409,
    ModelSpecError: 422,
}
"""The status of each error; the first class that fits."""
_UNNAMED: Final[Mapping[str, str]] = {
    "There was an error parsing the body": "the body is no JSON; give a JSON object",
    "Not Found": "there is no such page; the navigation has all pages, and /api/openapi.json the rest",
    "Method Not Allowed": "the page does not take this method; the header Allow names those that it takes",
}
"""Sentences in place of those of the framework."""
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {"status": {"type": "integer"}, "detail": {"type": "string"}},
}
_PROBLEM: Final[dict[str, Any]] = {
    "description": "A problem in one sentence, as RFC 9457 says",
    "content": {PROBLEM: {"schema": _SCHEMA}},
}
RESPONSES: Final[dict[int | str, dict[str, Any]]] = {"4XX": _PROBLEM, 422: _PROBLEM}
"""The errors of every operation, for OpenAPI."""
KNOWN_ERRORS: Final[tuple[type[Exception], ...]] = (*_STATUSES, RequestValidationError, HTTPException)


class RequestProblem(HTTPException):
    """A request that is refused with a status and one sentence."""


def is_for_program(request: Request) -> bool:
    """Returns whether the answer is JSON, and not a page."""
    return request.url.path.startswith("/api/")


def answer_error(request: Request, error: Exception) -> Response:
    """Answers a request whose handling raised."""
    status, sentence = _describe(error)
    response = answer_problem(request, status, sentence)
    response.headers.update(getattr(error, "headers", None) or {})
    if "allow" in response.headers:  # by one route of the path; others have further methods
        response.headers["allow"] = ", ".join(_list_methods(request))
    return response


def _list_methods(request: Request) -> list[str]:
    path = getattr(request.scope.get("route"), "path", "")
    routes = iter_route_contexts(request.app.routes)
    return sorted({method for route in routes if route.path == path for method in route.methods or ()})


def answer_problem(request: Request, status: int, sentence: str) -> Response:
    """Answers with a status and one sentence: as RFC 9457 says for programs, else as a page."""
    title = HTTPStatus(status).phrase
    if is_for_program(request):
        fields = {"type": "about:blank", "title": title, "status": status, "detail": sentence}
        return JSONResponse(fields, status, media_type=PROBLEM)
    template = "problem_part.html" if request.headers.get("hx-request") else "problem.html"
    return render(request, template, {"title": title, "sentence": sentence}, status)


def _describe(error: Exception) -> tuple[int, str]:
    if isinstance(error, RequestValidationError):
        return _describe_validation(error)
    if isinstance(error, HTTPException):
        return error.status_code, _UNNAMED.get(str(error.detail), str(error.detail))
    status = next(number for known, number in _STATUSES.items() if isinstance(error, known))
    return status, format_one_line(error)


def _describe_validation(error: RequestValidationError) -> tuple[int, str]:
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        return 400, "the body is no JSON; give a JSON object"
    parts = [f"{'.'.join(map(str, detail['loc'][1:])) or 'body'}: {detail['msg']}" for detail in details]
    return 422, f"the request is not accepted: {'; '.join(parts)}"
