"""What takes part in supervision is told by its methods."""

from __future__ import annotations

from agents.execution import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator.supervision.agents import ModelSupervisor
from orchestrator.supervision.protocols import AssessingExecutor, CommittingExecutor, Supervisor


class Executor:
    def commit_step(self, step, context=""):
        return {}

    def assess_step(self, step, commitment, output):
        return {}


def test_the_model_supervisor_is_a_supervisor():
    assert isinstance(ModelSupervisor(ScriptedChatModel([])), Supervisor)


def test_an_executor_with_methods_of_its_own_is_recognised():
    assert isinstance(Executor(), CommittingExecutor)
    assert isinstance(Executor(), AssessingExecutor)


def test_a_plain_executor_neither_commits_nor_assesses():
    executor = ExecutionAgent(ScriptedChatModel([]))
    assert not isinstance(executor, CommittingExecutor)
    assert not isinstance(executor, AssessingExecutor)
