"""`orchestrator doctor --judge`: measures a judge, prints the figures and keeps them."""

import json
from pathlib import Path

import pytest

from agents import MonitoringAgent, load_model
from evaluation import find_trust
from evaluation.judges.figures import load_labelled_set
from tests.fakes.chat_server import verdict

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
    assert "orchestrator: [Errno 20] Not a directory" in asked.stderr
