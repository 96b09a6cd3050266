"""Builds and runs orchestrators that are supervised by a model or by a person."""

import json

from langgraph.checkpoint.memory import InMemorySaver

from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from tests.fakes.runs import build
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor

APPROVE = {"answer": "approve"}
DENY = {"answer": "deny", "text": "too dear"}
CORRECT = {"answer": "correct", "text": "use fewer words"}
DONE = EvaluationContract(required_content=[{"text": "done"}])


def build_llm(supervisor=None, executor=None, monitor=None, plan=("one",), **options):
    defaults = {"supervision": "llm", "supervisor": supervisor or FakeSupervisor()}
    return build(executor or SpeakingExecutor(), monitor, plan, **{**defaults, **options})


def run_llm(*agents, **options):
    return build_llm(*agents, **options).run("x")


def start_human(executor=None, *agents, **options):
    """A run that a person supervises, as far as its first question."""
    options = {"supervision": "human", "checkpointer": InMemorySaver(), **options}
    orchestrator = build(executor or SpeakingExecutor(), *agents, **options)
    return orchestrator, orchestrator.run("x", "thread")


def replying(answer):
    return ScriptedChatModel(lambda messages: json.dumps(answer))


def supervision_of(state, at=0):
    return state["results"][at]["supervision"]
