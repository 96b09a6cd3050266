"""Starts, answers and evaluates the runs of clients."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from mcp.server.lowlevel import Server

from evaluation import evaluate, run_from_state
from evaluation.sensitive.quoting import shorten
from orchestrator.errors import ConfigurationError, ResumeError
from orchestrator.persistence import History
from orchestrator.runtime.events import Event
from orchestrator.serving.live.run_builders import NewRun, RunBuilder
from orchestrator.serving.live.run_sessions import Opened, OpenStream, open_in_thread
from orchestrator.serving.mcp.client_result import describe_event, describe_result
from orchestrator.serving.mcp.client_tools import (
    AnswerArguments,
    EvaluateArguments,
    ResumeArguments,
    RunArguments,
)
from orchestrator.settings import check_task
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import Question
from orchestrator.supervision.human import is_overdue


@dataclass(frozen=True, slots=True)
class ClientRuns:
    """The runs that clients start and answer.

    Attributes:
        history: The stored runs.
        builder: Builds the orchestrators.
        server: The server, which has the client of each request.
    """

    history: History
    builder: RunBuilder
    server: Server[Any, Any]
    _tasks: set[asyncio.Task[dict[str, Any]]] = field(default_factory=set)

    async def run(self, given: RunArguments) -> dict[str, Any]:
        """Runs a task until it has ended or asks; see ``RunArguments``."""
        task, thread_id = check_task(given.task), given.thread_id or str(uuid.uuid4())
        if (known := await asyncio.to_thread(self.history.find, thread_id)) is not None:
            name = format_repr(thread_id, 80)
            raise ConfigurationError(
                f"thread {name} has a run ({known.status}); give another thread_id, or none"
            )
        run = NewRun(task=task, thread_id=thread_id)
        return await self._follow(
            lambda: self.builder.open_new(run), lambda each: each.astream(task, thread_id)
        )

    async def answer(self, given: AnswerArguments) -> dict[str, Any]:
        """Answers a question, and runs until the end or the next question; see ``AnswerArguments``."""
        question = (await asyncio.to_thread(self.history.show, given.thread_id)).summary.question
        if question is None:
            name = format_repr(given.thread_id, 80)
            raise ResumeError(f"thread {name} has no open question; read its resource to see how it goes on")
        answer = self._read_answer(given, question)
        note = ""
        if is_overdue(question, datetime.now(UTC)):
            note = (
                f"The deadline of the question has passed; the run went on with {question['on_deadline']!r}."
            )
        return await self._follow(
            lambda: self.builder.open_stored(given.thread_id),
            lambda each: each.astream_resumed(given.thread_id, answer),
            note,
        )

    async def resume(self, given: ResumeArguments) -> dict[str, Any]:
        """Continues a run, and runs until the end or a question; see ``ResumeArguments``."""
        return await self._follow(
            lambda: self.builder.open_stored(given.thread_id),
            lambda each: each.astream_resumed(given.thread_id),
        )

    async def evaluate(self, given: EvaluateArguments) -> dict[str, Any]:
        """Evaluates a run; see ``EvaluateArguments``."""
        return await asyncio.to_thread(self._evaluate, given)

    def _evaluate(self, given: EvaluateArguments) -> dict[str, Any]:
        run: object = given.run
        if isinstance(given.run, str):
            run = run_from_state(self.history.show(given.run).state)
        report = evaluate({**given.contract, "agent_run": run})
        if report.status == "invalid":
            raise ConfigurationError("; ".join(report.errors))
        return report.model_dump(mode="json")

    def _read_answer(self, given: AnswerArguments, question: Question) -> object:
        name = given.question or question["id"]
        if question["kind"] == "agent":
            if name != question["id"]:
                raise ResumeError("the answer is for another question; read and answer the one that waits")
            return given.answer
        client = self.server.request_context.session.client_params
        person = shorten(client.clientInfo.name, 80) if client is not None else "a client"
        return {
            "question": name,
            "answer": given.answer,
            "text": given.text,
            "answered_by": f"{person} (MCP)",
        }

    async def _follow(
        self, open_orchestrator: Callable[[], Opened], open_stream: OpenStream, note: str = ""
    ) -> dict[str, Any]:
        # A task of its own: anyio repeats a cancellation at each await, also while the run is being stored.
        task = asyncio.create_task(self._execute(open_orchestrator, open_stream, note))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def _execute(
        self, open_orchestrator: Callable[[], Opened], open_stream: OpenStream, note: str
    ) -> dict[str, Any]:
        async with (
            open_in_thread(open_orchestrator) as orchestrator,
            aclosing(open_stream(orchestrator)) as events,
        ):
            number, state = 0, None
            async for event in events:
                number += 1
                await self._report(number, event)
                state = getattr(event, "state", None)
        # The last event of every stream has the state.
        return describe_result(event.thread_id, cast("OrchestratorState", state), note)

    async def _report(self, number: int, event: Event) -> None:
        request = self.server.request_context
        token = None if request.meta is None else request.meta.progressToken
        if token is not None:
            await request.session.send_progress_notification(
                token, number, message=describe_event(event), related_request_id=str(request.request_id)
            )
