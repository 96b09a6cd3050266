"""`orchestrator doctor`."""

import json
import os
import platform
import socket
from dataclasses import fields
from importlib.metadata import version

import pytest

from agents.models.ollama import format_address
from agents.models.weights import Sources
from orchestrator.cli.doctor import (
    Diagnosis,
    Embedded,
    Ollama,
    OpenAICompatible,
    check_embedded_model,
    draw_diagnosis,
    find_version,
)
from tests.conftest import OLLAMA_MODEL

SECRET = "sk-very-secret"


@pytest.fixture
def nothing(tmp_path):
    """An environment in which no model can be used."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
    return {"PEM_WEIGHTS": str(tmp_path / "missing.gguf"), "OLLAMA_HOST": host}


def test_without_any_model_it_exits_with_1_and_says_what_to_do(cli, nothing):
    asked = cli("doctor", env=nothing)

    assert asked.exit_code == 1
    assert "PEM_WEIGHTS names" in asked.stdout
    assert (
        f"no server answers at http://{nothing['OLLAMA_HOST']}; start one with `ollama serve`" in asked.stdout
    )
    assert "No model can be used." in asked.stdout


def test_it_names_python_and_the_version_of_every_package(cli, nothing):
    said = cli("doctor", env=nothing).stdout

    assert f"Python: {platform.python_version()}" in said
    for package in ("plan-execute-monitor", "langgraph", "langchain-core", "langchain-ollama"):
        assert f"{package}: {version(package)}" in said


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_key_is_said_to_be_set_and_never_shown(cli, nothing, options):
    environment = {
        **nothing,
        "OPENAI_API_KEY": SECRET,
        "OPENAI_BASE_URL": f"https://user:{SECRET}@host.example",
    }

    asked = cli("doctor", *options, env=environment)

    assert asked.exit_code == 0
    assert SECRET not in asked.output


def test_a_weights_file_that_cannot_be_loaded_is_a_problem_with_its_place_and_size(
    cli, nothing, tmp_path, endpoint
):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 100)

    asked = cli("doctor", "--json", env={**nothing, "PEM_WEIGHTS": str(broken)})

    embedded = json.loads(asked.stdout)["embedded"]
    assert (asked.exit_code, embedded["ready"], embedded["size_bytes"]) == (1, False, 104)
    assert "cannot load" in embedded["problem"]


def test_the_embedded_model_is_found_with_its_place_and_size(cli, nothing, endpoint):
    environment = {name: value for name, value in nothing.items() if name != "PEM_WEIGHTS"}

    asked = cli("doctor", "--json", env=environment)

    found = json.loads(asked.stdout)
    assert (asked.exit_code, found["usable"], found["embedded"]["problem"]) == (0, ["local"], None)
    assert found["embedded"]["size_bytes"] == os.path.getsize(found["embedded"]["path"])


def test_without_weights_it_says_where_they_come_from(endpoint):
    nowhere = Sources(variable="NO_SUCH_VARIABLE", package="no_such_package", client="no_such_client")

    embedded = check_embedded_model(nowhere)

    assert not embedded.ready
    assert "this machine has no weights" in embedded.problem


def test_a_package_that_is_not_installed_has_no_version():
    assert find_version("no-such-package") is None


def test_a_server_for_ollama_is_found_with_its_models(cli, nothing, ollama_url):
    asked = cli("doctor", "--json", env={**nothing, "OLLAMA_HOST": ollama_url})

    found = json.loads(asked.stdout)
    assert (asked.exit_code, found["ollama"]["host"], found["ollama"]["answers"]) == (0, ollama_url, True)
    assert OLLAMA_MODEL in found["ollama"]["models"]
    assert f"ollama:{OLLAMA_MODEL}" in found["usable"]


def test_json_is_what_was_found_and_nothing_else(cli, nothing):
    asked = cli("doctor", "--json", env=nothing)

    assert set(json.loads(asked.stdout)) == {field.name for field in fields(Diagnosis)}
    assert asked.stderr == ""


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (None, "http://127.0.0.1:11434"),
        ("", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("box:1234", "http://box:1234"),
        ("http://box", "http://box"),
        ("https://box:444/path", "https://box:444"),
        ("http://user:secret@box:1234", "http://box:1234"),
        ("[::1]:99", "http://[::1]:99"),
        ("http://box:port", "the address in OLLAMA_HOST, which is invalid"),
    ],
)
def test_the_address_of_ollama_is_shown_without_a_password(given, address):
    assert format_address(given) == address


def found(embedded=None, models=None, key=False):
    return Diagnosis(
        python="3.11.0",
        platform="Linux",
        versions={"langgraph": "1.2", "xllamacpp": None},
        embedded=embedded or Embedded(ready=True, path="/w.gguf", origin="package", size_bytes=98_000_000),
        ollama=Ollama(host="http://h:1", answers=models is not None, models=models or []),
        openai=OpenAICompatible(api_key_set=key, base_url_set=False),
        usable=["local"],
    )


@pytest.mark.parametrize(
    ("diagnosis", "said"),
    [
        (found(), "ok embedded model: /w.gguf (98 MB, from the package)"),
        (found(Embedded(ready=False, problem="no weights")), "-  embedded model: no weights"),
        (found(Embedded(ready=False)), "-  embedded model: not found"),
        (found(), "-  xllamacpp: not installed"),
        (
            found(models=[]),
            "-  Ollama: http://h:1 answers and has no model; get one with `ollama pull llama3.2`",
        ),
        (found(models=["a", "b\x1b[31m"]), "ok Ollama: http://h:1 answers and has a, b[31m"),
        (found(models=list("abcdefg")), "ok Ollama: http://h:1 answers and has a, b, c, d, e and 2 more"),
        (found(key=True), "ok OpenAI-compatible: OPENAI_API_KEY is set, OPENAI_BASE_URL is not set"),
        (found(), "Ready to run with --model local"),
    ],
)
def test_every_finding_is_one_line(diagnosis, said):
    assert said in draw_diagnosis(diagnosis).plain.splitlines()
