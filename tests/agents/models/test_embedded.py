import json
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from langchain_core.language_models import BaseChatModel

from agents.errors import ModelSetupError
from agents.models import embedded
from agents.models.embedded import Endpoint, check_weights, embedded_endpoint, locate_weights, require_runtime
from agents.models.spec import load_model

VERDICT = {
    "title": "verdict",
    "type": "object",
    "properties": {"success": {"type": "boolean"}, "feedback": {"type": "string", "maxLength": 60}},
    "required": ["success", "feedback"],
    "additionalProperties": False,
}


def run(script: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    """Run a script in an interpreter of its own; its output is read at the level of file descriptors."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def test_a_json_schema_constrains_the_reply(embedded_llm: BaseChatModel) -> None:
    structured = embedded_llm.with_structured_output(VERDICT, method="json_schema", include_raw=True)
    reply = structured.invoke("Is the sky blue? Answer with success and feedback.")
    assert set(reply["parsed"]) == {"success", "feedback"}
    assert type(reply["parsed"]["success"]) is bool
    assert json.loads(reply["raw"].text) == reply["parsed"]
    assert reply["raw"].usage_metadata["output_tokens"] > 0


def test_a_proxy_in_the_environment_is_not_asked(endpoint: Endpoint, closed_url: str, monkeypatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_PROXY"):
        monkeypatch.setenv(name, closed_url)
    assert load_model("local", max_tokens=4).invoke("Hi").text


def test_threads_that_ask_at_once_share_the_server(endpoint: Endpoint) -> None:
    barrier = threading.Barrier(8)

    def ask(_: int) -> str:
        barrier.wait()
        return embedded_endpoint().base_url

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {endpoint.base_url}


def test_the_same_weights_with_another_context_have_a_server_of_their_own(endpoint: Endpoint) -> None:
    other = embedded_endpoint(n_ctx=512)
    assert other.base_url != endpoint.base_url
    assert embedded_endpoint(n_ctx=512) == other
    assert embedded_endpoint() == endpoint


def test_the_server_asks_for_its_key(subtests: pytest.Subtests, endpoint: Endpoint) -> None:
    for key in [None, "wrong"]:
        with subtests.test(key=key):
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            body = {"messages": [{"role": "user", "content": "Hi"}]}
            reply = httpx.post(
                f"{endpoint.base_url}/chat/completions", json=body, headers=headers, trust_env=False
            )
            assert reply.status_code == 401


def test_a_damaged_file_is_a_sentence_and_not_a_crash(subtests: pytest.Subtests, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    huge_counts = b"\x03\0\0\0" + b"\0\0\0\0\0\0\0\x10" * 2 + bytes(1000)
    for rest in [b"", bytes(1000), b"\xff" * 100_000, huge_counts]:
        path = tmp_path / "damaged.gguf"
        path.write_bytes(b"GGUF" + rest)
        told = r"llama.cpp cannot load .*damaged.gguf"
        with subtests.test(rest[:10]), pytest.raises(ModelSetupError, match=told):
            load_model(f"gguf:{path}")


def test_a_missing_runtime_is_a_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_RUNTIME", "no_such_runtime")
    with pytest.raises(ModelSetupError, match=r"needs the package no_such_runtime; run `pip install"):
        require_runtime()


def test_it_keeps_the_terminal_quiet_from_load_to_exit(endpoint: Endpoint) -> None:
    done = run(
        "from openai import BadRequestError\n"
        "from agents.models.spec import load_model\n"
        "llm = load_model('local', max_tokens=4)\n"
        "llm.invoke('Hi')\n"
        "try:\n    llm.invoke('word ' * 20000)\nexcept BadRequestError:\n    print('refused')\n"
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["refused"], "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_starts_its_own_server_and_exits(endpoint: Endpoint) -> None:
    done = run(
        "import os, sys, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from agents.models.embedded import embedded_endpoint\n"
        "from agents.models.spec import load_model\n"
        "parent = embedded_endpoint().base_url\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    answered = load_model('local', max_tokens=4).invoke('Hi').text\n"
        "    sys.exit(0 if answered and embedded_endpoint().base_url != parent else 3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), bool(load_model().invoke('Hi').text))\n"
    )
    assert (done.stdout.split(), done.returncode) == (["0", "True"], 0)


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = ("langchain_openai", "langchain_ollama", "openai", "ollama", "xllamacpp", "huggingface_hub")
    done = run(f"import sys, agents.models\nprint([name for name in {heavy!r} if name in sys.modules])")
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


def test_closed_servers_answer_no_more_and_the_next_model_starts_one(endpoint: Endpoint) -> None:
    done = run(
        "import httpx\n"
        "from agents.models.spec import load_model\n"
        "from agents.models.embedded import close_servers, embedded_endpoint\n"
        "url = embedded_endpoint().base_url\n"
        "close_servers()\n"
        "try:\n    httpx.get(url, trust_env=False)\nexcept httpx.ConnectError:\n    print('closed')\n"
        "print(bool(load_model('local', max_tokens=4).invoke('Hi').text))\n"
    )
    assert done.stdout.split() == ["closed", "True"]


def test_the_server_ends_when_the_process_is_killed(endpoint: Endpoint) -> None:
    done = run(
        "import os, signal\n"
        "from agents.models.embedded import embedded_endpoint\n"
        "print(embedded_endpoint().base_url, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    url = done.stdout.strip()
    assert url.startswith("http://127.0.0.1:")
    assert _refused_within(url, seconds=10)


def _refused_within(url: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            httpx.get(url, trust_env=False)
        except httpx.TransportError:
            return True
        time.sleep(0.05)
    return False


def test_the_key_is_not_on_the_servers_command_line(endpoint: Endpoint) -> None:
    commands = [each.process.args for each in embedded._running.values()]
    assert commands
    assert endpoint.api_key not in str(commands)


def test_a_server_that_was_killed_is_started_again(endpoint: Endpoint, tmp_path: Path) -> None:
    copy = tmp_path / "copy.gguf"
    shutil.copy(locate_weights(), copy)
    before = embedded_endpoint(check_weights(copy), n_ctx=512)
    process = embedded._running[copy, 512].process
    process.kill()
    process.wait()
    after = embedded_endpoint(check_weights(copy), n_ctx=512)
    assert before.base_url != after.base_url
    assert embedded_endpoint() == endpoint
