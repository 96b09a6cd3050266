"""The inbox, the page that starts a run, the login, and what their forms and those of a run do."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote, unquote

from fastapi import APIRouter, Form
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from orchestrator.serving import run_changes
from orchestrator.serving.live.run_builders import NewRun
from orchestrator.serving.page_templates import render, run_address
from orchestrator.serving.request_guard import SESSION, is_same, sign_session
from orchestrator.serving.run_changes import GivenAnswer
from orchestrator.serving.server_context import Context
from orchestrator.serving.views.inbox import MOST_QUESTIONS

PERSON: Final = "pem_person"
"""The cookie with the name that a person gave last."""
_YEAR_S: Final = 31_536_000
_Thread = Annotated[str, Form(min_length=1)]
router = APIRouter(include_in_schema=False)


class AnswerForm(GivenAnswer):
    """The form of an answer; ``csrf`` was checked before."""

    csrf: str
    thread_id: str


class StartForm(BaseModel):
    """The form of a new run."""

    model_config = ConfigDict(extra="forbid")

    csrf: str
    task: str
    thread_id: str = ""
    model: str = ""
    approve: bool = False
    review: bool = False


@router.get("/")
def show_inbox(request: Request, context: Context) -> Response:
    """Shows the open questions."""
    questions = context.inbox.list_questions()
    values = {"questions": questions, "person": _read_person(request), "most": MOST_QUESTIONS}
    return render(request, "inbox.html", values)


@router.post("/answer")
async def answer(request: Request, context: Context, form: Annotated[AnswerForm, Form()]) -> Response:
    """Answers a question."""
    await run_changes.answer_question(context, form.thread_id, form)
    response = _go_to(request, run_address(form.thread_id))
    response.set_cookie(PERSON, quote(form.answered_by), httponly=True, samesite="strict", max_age=_YEAR_S)
    return response


@router.get("/start")
def show_start(request: Request, context: Context) -> Response:
    """Shows the form of a new run."""
    return render(
        request,
        "start.html",
        {"models": context.builder.models, "has_tools": context.builder.has_tools},
    )


@router.post("/start")
async def start(request: Request, context: Context, form: Annotated[StartForm, Form()]) -> Response:
    """Starts a run."""
    run = NewRun(
        task=form.task,
        thread_id=form.thread_id or None,
        model=form.model or None,
        approve_tools=["all"] if form.approve else None,
        supervise="human" if form.review else None,
    )
    thread_id, _ = await run_changes.start_run(context, run)
    return _go_to(request, run_address(thread_id))


@router.post("/run/resume")
async def resume(request: Request, context: Context, thread_id: _Thread) -> Response:
    """Resumes a run."""
    await run_changes.continue_run(context, thread_id)
    return _go_to(request, run_address(thread_id))


@router.post("/run/cancel")
async def cancel(request: Request, context: Context, thread_id: _Thread) -> Response:
    """Ends a run."""
    await run_changes.cancel_run(context, thread_id, _read_person(request))
    return _go_to(request, run_address(thread_id))


@router.post("/run/fork")
async def fork(
    request: Request,
    context: Context,
    thread_id: _Thread,
    step: Annotated[int, Form(ge=1, lt=2**31)],
    new_thread_id: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Forks a run."""
    name = await run_changes.fork_run(context, thread_id, step, new_thread_id or None)
    return _go_to(request, run_address(name))


@router.post("/run/delete")
async def delete(request: Request, context: Context, thread_id: _Thread) -> Response:
    """Deletes a run."""
    await run_changes.delete_run(context, thread_id)
    return _go_to(request, "/runs")


@router.get("/login")
def show_login(request: Request) -> Response:
    """Shows the form of the token."""
    return render(request, "login.html", {"is_wrong": False})


@router.post("/login")
def log_in(request: Request, context: Context, token: Annotated[str, Form()]) -> Response:
    """Keeps in a cookie that the client has given the token."""
    expected = context.options.token
    if expected is None or not is_same(token, expected):
        return render(request, "login.html", {"is_wrong": True}, 401)
    response = _go_to(request, "/")
    is_secure = request.url.scheme == "https"
    response.set_cookie(SESSION, sign_session(expected), httponly=True, samesite="strict", secure=is_secure)
    return response


@router.post("/logout")
def log_out(request: Request) -> Response:
    """Forgets the cookie."""
    response = _go_to(request, "/login")
    response.delete_cookie(SESSION)
    return response


def _read_person(request: Request) -> str:
    return unquote(request.cookies.get(PERSON, ""))


def _go_to(request: Request, address: str) -> Response:
    """Sends the browser to a page; htmx follows a header of its own."""
    if request.headers.get("hx-request"):
        return Response(status_code=204, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)
