import re
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from tests.fakes.chat_server import call

TOOLS = '''
def send(to: str) -> str:
    """Send an invitation."""
    return f"sent to {to}"
'''


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, with the module `post_tools`."""
    (tmp_path / "post_tools.py").write_text(TOOLS)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def start(process, chat, db):
    server = chat(steps=[call("send", to="Ada"), "Ada is invited."])

    clients = []

    def begin(*arguments):
        common = ("serve", "--db", str(db), "--port", "0", "--model", "openai:scripted")
        running = process(*common, *arguments, env=server.environment)
        line = running.stderr.readline().decode()
        address = re.search(r"http://\S+", line)
        assert address, line + running.stderr.read().decode()
        clients.append(httpx.Client(base_url=address.group(), timeout=30, trust_env=False))
        return running, clients[-1]

    yield begin
    for client in clients:
        client.close()


def read_run(client, thread):
    return client.get(f"/api/runs/{thread}").json()


def wait_until(client, thread, status):
    deadline = time.monotonic() + 20
    while (run := read_run(client, thread))["status"] != status and time.monotonic() < deadline:
        time.sleep(0.05)
    assert run["status"] == status, run
    return run


@pytest.fixture
def start_asking(start):
    """Start a server, and a run that waits: the process, its client and the question."""
    options = ("--tools", "post_tools:send", "--planning", "never", "--acting-tools", "all:approve")
    running, client = start(*options)
    client.post("/api/runs", json={"task": "Invite Ada", "thread_id": "x"})
    return running, client, wait_until(client, "x", "waiting")["question"]


@pytest.mark.soak
def test_ctrl_c_ends_the_streams_so_that_their_clients_connect_again(start_asking, interruptible_children):
    running, client, _ = start_asking
    with client.stream("GET", "/api/runs/x/events") as stream:
        lines = stream.iter_lines()
        first = next(lines)
        running.send_signal(signal.SIGINT)
        rest = [*lines]
    printed = running.communicate(timeout=30)[1].decode()

    assert (first, "event: end" in rest) == ("event: RunStarted", False)
    assert printed.split() == ["orchestrator:", "interrupted"]


@pytest.mark.thorough
def test_tools_that_the_server_was_not_given_are_not_imported(start, start_asking):
    running, _, question = start_asking
    running.kill()

    _, client = start()
    answer = client.post("/api/runs/x/answers", json={"question": question["id"], "answer": "approve"})

    assert answer.status_code == 409
    assert "--tools post_tools:send" in answer.json()["detail"]
    assert "orchestrator resume x" in client.get("/").text
    assert read_run(client, "x")["status"] == "waiting"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--host", "0.0.0.0"], "can be reached from other machines; give a token of at least 16 characters"),
        (["--token", "short"], "the token is too short; give at least 16 characters"),
        (["--tools", "post_tools:nothing"], "--tools: "),
        (["--read-only"], "there is no"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_status_2(cli, db, arguments, sentence):
    result = cli("serve", "--db", str(db), *arguments)

    assert (result.exit_code, sentence in result.stderr, result.stderr.count("\n")) == (2, True, 1)
    assert not db.exists()


@pytest.mark.soak
@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        (["serve"], "fastapi", "serve"),
        (["worker", "--app", "a:b"], "procrastinate", "postgres"),
        (["runs", "--db", "postgresql://127.0.0.1/runs"], "psycopg", "postgres"),
    ],
)
def test_a_missing_extra_is_one_sentence_and_status_2(environment, words, module, extra):
    hide = f"import sys; sys.modules['{module}'] = None; from orchestrator.cli.app import app"
    done = subprocess.run(
        [sys.executable, "-c", f"{hide}; app({words})"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"install plan-execute-monitor[{extra}]" in done.stderr


def test_a_port_in_use_is_one_sentence_and_status_1(cli, db):
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        result = cli("serve", "--db", str(db), "--port", str(port))

    told = f"Address already in use (while attempting to bind on address ('127.0.0.1', {port}))"
    assert (result.exit_code, told in result.stderr, result.stderr.count("\n")) == (1, True, 1)
