"""Serve runs over HTTP with FastAPI: start a run and stream its events, show a run, continue a run.

    python examples/fastapi_app.py                  starts the server, streams one run from it, and ends
    python examples/fastapi_app.py runs.sqlite      serves on http://127.0.0.1:8000 until Ctrl-C

A client that goes away interrupts its run; POST /runs/{thread}/resume continues it (.../stream streams).
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import httpx
import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel

from orchestrator import ConfigurationError, LangGraphOrchestrator, OrchestratorError, OrchestratorState
from orchestrator.events import Event, RunFinished, RunPaused, StepJudged, TextStreamed
from orchestrator.persistence import History, open_store

TASK = "Explain in one paragraph why the sky is blue, and mention the word light."


class Task(BaseModel):
    """The body of POST /runs."""

    task: str


class Answer(BaseModel):
    """The body of POST /runs/{thread}/resume: None after an interruption, else what a person answers."""

    answer: dict[str, str] | None = None


def build_app(orchestrator: LangGraphOrchestrator, history: History) -> FastAPI:
    """Build the application around one orchestrator, which can do many runs at once."""
    app = FastAPI(title="plan, execute, monitor")

    @app.post("/runs")
    async def start_run(body: Task) -> StreamingResponse:
        thread = uuid4().hex
        events = orchestrator.astream(body.task, thread, tokens=True)
        return StreamingResponse(send(events), media_type="text/event-stream", headers={"X-Thread": thread})

    def find_run(thread: str) -> str:
        if history.find(thread) is None:
            raise HTTPException(404, f"there is no run {thread!r}")
        return thread

    @app.get("/runs/{thread}")
    def show_run(thread: Annotated[str, Depends(find_run)]) -> dict[str, object]:
        return describe_state(history.show(thread).state)

    @app.post("/runs/{thread}/resume")
    async def continue_run(thread: Annotated[str, Depends(find_run)], body: Answer) -> dict[str, object]:
        return describe_state(await orchestrator.aresume(thread, body.answer))

    @app.post("/runs/{thread}/resume/stream")
    async def stream_run(thread: Annotated[str, Depends(find_run)], body: Answer) -> StreamingResponse:
        events = orchestrator.astream_resumed(thread, body.answer, tokens=True)
        # An answer that is refused raises here, before the status of the response is sent.
        first = await anext(events)
        return StreamingResponse(send(put_first(first, events)), media_type="text/event-stream")

    @app.exception_handler(OrchestratorError)
    async def refuse(request: Request, error: OrchestratorError) -> JSONResponse:
        # A wrong task or name is the client's mistake; anything else is the state that the run is in.
        status = 422 if isinstance(error, ConfigurationError) else 409
        return JSONResponse({"detail": str(error)}, status_code=status)

    return app


def describe_state(state: OrchestratorState) -> dict[str, object]:
    """Choose what a client sees of a run. A run that waits for a person is "executing" in its state."""
    question, failure = state["question"], state["failure"]
    return {
        "status": "waiting" if question else state["status"],
        "question": question and {name: question[name] for name in ("id", "text", "output", "accepts")},
        "basis": state["basis"],
        "output": state["output"],
        "failure": failure and failure["message"],
    }


async def put_first(first: Event, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    """Yield an event before the others."""
    yield first
    async for event in events:
        yield event


async def send(events: AsyncIterator[Event]) -> AsyncIterator[str]:
    """Turn events into server-sent events."""
    async for event in events:
        if (data := describe(event)) is not None:
            yield f"event: {type(event).__name__}\ndata: {json.dumps(data)}\n\n"


def describe(event: Event) -> dict[str, object] | None:
    """Choose what a client sees of an event; None for nothing."""
    match event:
        case TextStreamed(agent="executor", text=text):
            return {"text": text}
        case StepJudged(record=record, verdict=verdict):
            return {"attempt": record["attempt"], "status": record["status"], **verdict}
        case RunPaused(state=state) | RunFinished(state=state):
            return describe_state(state)
    return None


def print_line(line: str) -> None:
    """Print a line of server-sent events; pieces of text one after the other."""
    if line.startswith("data: "):
        data = json.loads(line.removeprefix("data: "))
        print(data.get("text", f"\n{data}"), end="", flush=True)


def demonstrate(app: FastAPI) -> None:
    """Start the server on a free port, print one streamed run, then ask for the stored run."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=300, trust_env=False) as client:
        with client.stream("POST", "/runs", json={"task": TASK}) as reply:
            for line in reply.iter_lines():
                print_line(line)
        print("\nstored:", client.get(f"/runs/{reply.headers['X-Thread']}").json())
        print("unknown:", client.get("/runs/nobody").json())
    server.should_exit = True
    thread.join()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[1] if sys.argv[1:] else Path(folder, "runs.sqlite")
        with open_store(path) as store:
            app = build_app(LangGraphOrchestrator.from_model("local", checkpointer=store), store.history)
            if sys.argv[1:]:
                uvicorn.run(app, host="127.0.0.1", port=8000)
            else:
                demonstrate(app)
