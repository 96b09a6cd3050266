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


@pytest.mark.soak
def test_ctrl_c_ends_the_streams_so_that_their_clients_connect_again(start, interruptible_children):
    running, client = start(
        "--tools", "post_tools:send", "--planning", "never", "--acting-tools", "all:approve"
    )
    client.post("/api/runs", json={"task": "Invite Ada", "thread_id": "x"})
    wait_until(client, "x", "waiting")

    with client.stream("GET", "/api/runs/x/events") as stream:
        lines = stream.iter_lines()
        first = next(lines)
        running.send_signal(signal.SIGINT)
        rest = [*lines]
    printed = running.communicate(timeout=30)[1].decode()

    assert (first, "event: end" in rest) == ("event: RunStarted", False)
    assert printed.split() == ["orchestrator:", "interrupted"]


@pytest.mark.thorough
def test_tools_that_the_server_was_not_given_are_not_imported(start):
    running, client = start(
        "--tools", "post_tools:send", "--planning", "never", "--acting-tools", "all:approve"
    )
    client.post("/api/runs", json={"task": "Invite Ada", "thread_id": "x"})
    question = wait_until(client, "x", "waiting")["question"]
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

    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert (
        f"Address already in use (while attempting to bind on address ('127.0.0.1', {port}))" in result.stderr
    )


def test_a_file_that_is_no_store_is_one_sentence_and_unchanged(cli, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("notes" * 1000)

    result = cli("serve", "--db", str(file))

    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert file.read_text() == "notes" * 1000
