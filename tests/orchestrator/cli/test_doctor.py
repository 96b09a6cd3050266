"""`orchestrator doctor`."""

import json
import re
import socket

import pytest

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
    assert "openai: neither OPENAI_API_KEY nor OPENAI_BASE_URL is set" in asked.stdout
    assert "No model can be used." in asked.stdout


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


def test_a_weights_file_that_cannot_be_loaded_is_a_problem(cli, nothing, tmp_path, endpoint):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 100)

    asked = cli("doctor", "--json", env={**nothing, "PEM_WEIGHTS": str(broken)})

    embedded = json.loads(asked.stdout)["embedded"]
    assert (asked.exit_code, embedded["models"], "cannot load" in embedded["detail"]) == (1, [], True)


def test_the_embedded_model_is_found_with_its_place_and_size(cli, nothing, endpoint):
    environment = {name: value for name, value in nothing.items() if name != "PEM_WEIGHTS"}

    said = cli("doctor", env=environment)

    assert said.exit_code == 0
    assert re.search(r"^ok embedded: .+ \(\d+ MB\)$", said.stdout, re.MULTILINE)
    assert said.stdout.endswith("Ready to run with --model local\n")


def test_a_server_for_ollama_is_found_with_its_models(cli, nothing, ollama_url):
    asked = cli("doctor", "--json", env={**nothing, "OLLAMA_HOST": ollama_url})

    found = json.loads(asked.stdout)
    assert (asked.exit_code, f"ollama:{OLLAMA_MODEL}" in found["usable"]) == (0, True)
    assert found["ollama"]["detail"].startswith(f"{ollama_url} answers and has ")
