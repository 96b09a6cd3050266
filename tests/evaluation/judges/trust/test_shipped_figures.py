import json

import pytest

from agents import MonitoringAgent
from agents.testing import ScriptedChatModel
from evaluation import find_trust
from evaluation.judges import figures
from evaluation.judges.figures import get_set_version, load_labelled_set

FILES = sorted(figures._SHIPPED.glob("*.json"))
MEASURE_AGAIN = (
    "measure again: `orchestrator doctor --judge local`, and copy the file that it names to "
    "evaluation/judges/measured/ in place of the old one"
)


class NamedModel(ScriptedChatModel):
    model_name: str = "scripted-1"


@pytest.fixture(autouse=True)
def no_figures_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_there_are_figures_of_one_judge():
    assert len(FILES) == 1


def test_they_are_found_by_name_and_cover_the_whole_current_set(subtests):
    for file in FILES:
        with subtests.test(file=file):
            stored = json.loads(file.read_text(encoding="utf-8"))
            trust = find_trust(stored["figures"]["name"])

            assert stored["set_version"] == get_set_version(), MEASURE_AGAIN
            assert trust.total == len(load_labelled_set())


def test_they_were_measured_with_the_current_instructions(subtests):
    for file in FILES:
        with subtests.test(file=file):
            measured = json.loads(file.read_text(encoding="utf-8"))["figures"]["name"].split()
            current = MonitoringAgent(NamedModel([])).identity.split()

            assert measured[:2] == current[:2], MEASURE_AGAIN


def test_the_embedded_model_was_measured_and_is_not_trusted(embedded_llm):
    trust = find_trust(MonitoringAgent(embedded_llm).identity)

    assert trust is not None, MEASURE_AGAIN
    assert not trust.trusted
