"""The agents of an orchestrator, built from model specifications."""

import pytest

from agents.roles import build_roles


@pytest.fixture(autouse=True)
def endpoint_without_key(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://model.test/v1")


def test_one_specification_is_loaded_once_for_all_roles():
    roles = build_roles("openai:common")
    assert roles.planner.llm is roles.executor.llm is roles.monitor.llm
    assert roles.supervisor_model is None


def test_a_client_waits_as_long_as_a_call_of_an_agent_may_take():
    roles = build_roles("openai:m", monitor_model="ollama:m", call_timeout=1200)
    assert roles.executor.llm.request_timeout == 1200
    assert roles.monitor.llm.client_kwargs["timeout"] == 1200
