import json
import re
from pathlib import Path

import pytest

from agents import MonitoringAgent, load_model
from evaluation import find_trust
from evaluation.judges.figures import load_labelled_set
from tests.conftest import OLLAMA_MODEL
from tests.fakes.chat_server import verdict

SECRET = "sk-very-secret"


@pytest.fixture
def nothing(tmp_path, closed_url):
    return {"PEM_WEIGHTS": str(tmp_path / "missing.gguf"), "OLLAMA_HOST": closed_url}


def test_without_any_model_it_exits_with_1_and_says_what_to_do(cli, nothing):
    asked = cli("doctor", env=nothing)

    assert asked.exit_code == 1
    assert "PEM_WEIGHTS names" in asked.stdout
    assert f"no server answers at {nothing['OLLAMA_HOST']}; start one with `ollama serve`" in asked.stdout
    assert "openai: neither OPENAI_API_KEY nor OPENAI_BASE_URL is set" in asked.stdout
    assert "No model can be used." in asked.stdout


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_key_is_said_to_be_set_and_never_shown(cli, nothing, options):
    server = {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": f"https://user:{SECRET}@host.example"}

    asked = cli("doctor", *options, env={**nothing, **server})

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


OUTPUTS = load_labelled_set()
SPEC = "openai:judge-1"


def perfect():
    return [verdict(output.kind == "right", "compared with the task") for output in OUTPUTS]


def test_it_measures_the_whole_set_and_keeps_the_figures(cli, served):
    server = served(verdicts=perfect())

    asked = cli("doctor", "--judge", SPEC, "--json")

    document, trust = json.loads(asked.stdout), find_trust(MonitoringAgent(load_model(SPEC)).identity)
    assert (asked.exit_code, len(server.asked)) == (0, len(OUTPUTS))
    assert (document["trusted"], document["distrust"], document["total"]) == (True, None, len(OUTPUTS))
    assert document["false_accepts"]["successes"] == 0
    assert Path(document["file"]).is_file()
    assert (trust.trusted, trust.total) == (True, len(OUTPUTS))


@pytest.mark.soak
def test_it_prints_the_figures_in_plain_words(cli, served):
    served(verdicts=[*perfect()[:28], "I would say that it is fine."])

    asked = cli("doctor", "--judge", SPEC)

    assert f"Asking the judge about {len(OUTPUTS)} outputs, one call each.\n" in asked.stderr
    assert "It accepted 0 of 17 wrong outputs that it gave a verdict on" in asked.stdout
    assert "It refused 0 of 11 right outputs" in asked.stdout
    assert "False rejects: 0% (95% interval: 0% to" in asked.stdout


def test_a_judge_that_approves_everything_is_not_trusted_and_exits_with_1(cli, served):
    served(verdicts=[verdict(True, "it is good")])

    asked = cli("doctor", "--judge", SPEC)

    assert asked.exit_code == 1
    assert "with a text that asks for approval: accepted " in asked.stdout
    assert "Not trusted: it may accept up to 100% of wrong outputs" in asked.stdout


def test_a_server_that_does_not_answer_leaves_no_figures(cli, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    asked = cli("doctor", "--judge", SPEC)

    assert asked.exit_code == 1
    assert "the model's server at" in asked.stderr
    assert asked.stdout == ""


def test_a_data_folder_that_cannot_be_written_is_found_before_the_first_call(
    cli, served, monkeypatch, tmp_path
):
    server = served(verdicts=perfect())
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))

    asked = cli("doctor", "--judge", SPEC)

    assert (asked.exit_code, server.asked) == (2, [])
    assert "cannot be used (Not a directory)" in asked.stderr
