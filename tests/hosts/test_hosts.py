"""Programs that host a LangGraph run ours: LangGraph's server, and AG-UI's adapter; both are optional."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent, load_model
from evaluation.runner import NODES
from orchestrator import LangGraphOrchestrator
from tests.fakes.scripted_source import scripted_endpoint

pytestmark = pytest.mark.hosts
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def scripted_model() -> Iterator[None]:
    with scripted_endpoint():
        yield


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a server that serves the graph of ``langgraph.json``."""
    if (program := shutil.which("langgraph")) is None:
        pytest.skip('needs the package langgraph-cli: uv run --with "langgraph-cli[inmem]" pytest -m hosts')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["dev", "--no-browser", "--no-reload", "--port", str(port)]
    environment = {**os.environ, "MODEL": "openai:scripted", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    with (tmp_path / "server.log").open("w") as log:
        process = subprocess.Popen([program, *options], cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        yield wait_for_server(f"http://127.0.0.1:{port}", process, tmp_path / "server.log")
    finally:
        process.terminate()
        process.wait(60)


def wait_for_server(address: str, process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            ask(f"{address}/ok")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
        else:
            return address
    raise AssertionError(log.read_text()[-3000:])


def ask(url: str, body: object = None) -> object:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read())


def test_langgraphs_server_runs_a_task_and_shows_the_evaluation(server):
    run = {"assistant_id": "plan_execute_monitor", "input": {"task": "Mention the light"}}
    state = ask(f"{server}/runs/wait", run)
    [assistant] = ask(f"{server}/assistants/search", {})
    place = f"{server}/assistants/{assistant['assistant_id']}"
    drawing = ask(f"{place}/graph?xray=true")

    assert (state["status"], state["results"][0]["report"]["status"]) == ("success", "passed")
    assert ask(f"{place}/schemas")["input_schema"]["required"] == ["task"]
    assert {f"monitor_node:{name}" for name in NODES} <= {str(node["id"]) for node in drawing["nodes"]}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the adapter's own use of LangGraph
async def test_ag_ui_runs_a_task():
    adapter = pytest.importorskip("ag_ui_langgraph", reason="needs the package ag-ui-langgraph")
    core = pytest.importorskip("ag_ui.core")
    llm = load_model("openai:scripted")
    agents = PlanningAgent(llm), ExecutionAgent(llm), MonitoringAgent(llm)
    graph = LangGraphOrchestrator(*agents, checkpointer=InMemorySaver()).graph
    request = core.RunAgentInput(
        thread_id="thread",
        run_id="run",
        state={"task": "Write a haiku"},
        messages=[],
        tools=[],
        context=[],
        forwarded_props={},
    )
    events = [event async for event in adapter.LangGraphAgent(name="ours", graph=graph).run(request)]
    snapshots = [event.snapshot for event in events if event.type == core.EventType.STATE_SNAPSHOT]

    assert events[-1].type == core.EventType.RUN_FINISHED
    assert (snapshots[-1]["status"], snapshots[-1]["results"][0]["status"]) == ("success", "validated")
