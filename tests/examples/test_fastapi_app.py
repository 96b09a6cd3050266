"""The FastAPI example answers with what a client needs, and with the right status."""

import pytest
from fastapi.testclient import TestClient

from examples.fastapi_app import build_app
from orchestrator.persistence import open_store
from tests.fakes.runs import build
from tests.fakes.supervision import SpeakingExecutor


@pytest.fixture
def serve(tmp_path):
    """Return a client of the application: `serve(supervision="human")`."""
    with open_store(tmp_path / "runs.sqlite") as store:

        def start(executor=None, monitor=None, **options):
            orchestrator = build(
                executor or SpeakingExecutor(), monitor, plan=["one"], checkpointer=store, **options
            )
            return TestClient(build_app(orchestrator, store.history))

        yield start


def start_run(client):
    return client.post("/runs", json={"task": "x"}).headers["X-Thread"]


def test_an_answer_continues_the_run(serve):
    client = serve(supervision="human")
    thread = start_run(client)
    corrected = client.post(f"/runs/{thread}/resume", json={"answer": {"answer": "correct", "text": "do"}})
    approved = client.post(f"/runs/{thread}/resume", json={"answer": {"answer": "approve"}})

    assert (corrected.json()["status"], corrected.json()["question"]["id"]) == ("waiting", "0.2")
    assert (approved.json()["status"], approved.json()["basis"]) == ("success", "approved")


def test_a_resumed_run_streams_its_events_and_refuses_a_second_answer_before_it_begins(serve):
    client = serve(supervision="human")
    path = f"/runs/{start_run(client)}/resume/stream"
    streamed = client.post(path, json={"answer": {"answer": "approve"}})
    again = client.post(path, json={"answer": {"answer": "approve"}})

    assert '"status": "success"' in streamed.text.splitlines()[-2]
    assert again.status_code == 409


@pytest.mark.parametrize("path", ["/runs/nobody", "/runs/nobody/resume"])
def test_an_unknown_thread_is_not_found(serve, path):
    answer = serve().request("POST" if path.endswith("resume") else "GET", path, json={})

    assert (answer.status_code, answer.json()) == (404, {"detail": "there is no run 'nobody'"})
