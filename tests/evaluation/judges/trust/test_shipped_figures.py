import json

import pytest

from agents import MonitoringAgent
from evaluation import find_trust
from evaluation.judges import figures
from evaluation.judges.figures import get_set_version, load_labelled_set
from tests.evaluation.judges.trust.test_measuring import NamedModel

MEASURE_AGAIN = (
    "measure again: `orchestrator doctor --judge local`, and copy the file that it names to "
    "evaluation/judges/measured/ in place of the old one"
)


@pytest.fixture(autouse=True)
def no_figures_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.fixture
def stored():
    """The figures of the one judge that has some."""
    [file] = figures._SHIPPED.glob("*.json")
    return json.loads(file.read_text(encoding="utf-8"))


def test_they_are_found_by_name_and_cover_the_whole_current_set(stored):
    trust = find_trust(stored["figures"]["name"])

    assert stored["set_version"] == get_set_version(), MEASURE_AGAIN
    assert trust.total == len(load_labelled_set())


def test_they_were_measured_with_the_current_instructions(stored):
    measured, current = stored["figures"]["name"].split(), MonitoringAgent(NamedModel([])).identity.split()

    assert measured[:2] == current[:2], MEASURE_AGAIN


def test_the_embedded_model_was_measured_and_is_not_trusted(embedded_llm):
    trust = find_trust(MonitoringAgent(embedded_llm).identity)

    assert trust is not None, MEASURE_AGAIN
    assert not trust.trusted
