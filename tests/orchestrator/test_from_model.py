from functools import partial
from itertools import product

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import TransportRetry
from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator, RetryPolicy, engine
from tests.fakes.chat_server import SUPERVISE, assessment, supervision
from tests.fakes.protocol_server import (
    PROTOCOLS,
    ModelReply,
    encode,
    serve_protocol,
    write_body,
    write_stream,
)

APPROVAL = '{"success": true, "feedback": "good"}'

from_model = partial(LangGraphOrchestrator.from_model, planning="always")


def test_planning_executing_and_judging_all_ask_the_model_of_the_specification(environment, served):
    server = served()
    state = from_model("openai:scripted").run("the task")

    assert state["status"] == "success"
    assert server.asked == ["plan", "step", "verdict"]
    assert set(server.models) == {"scripted"}


@pytest.mark.parametrize(("own", "asked"), [("openai:boss", "boss"), (None, "strict")])
def test_the_supervisor_has_its_own_model_or_else_the_monitors(environment, served, own, asked):
    concern, judged = assessment(True, "odd"), supervision("continue", "fine")
    server = served(assessments=[concern], supervisions=[judged])
    models = {"monitor_model": "openai:strict", "supervisor_model": own}
    state = from_model("openai:common", supervision="llm", **models).run("the task")

    assert state["status"] == "success"
    assert dict(zip(server.asked, server.models, strict=True))[SUPERVISE] == asked


def test_options_reach_the_constructor(environment, served):
    served()
    events, saver = [], InMemorySaver()
    options = {"max_retries": 4, "call_timeout": 20.0, "checkpointer": saver, "hooks": [events.append]}

    built = from_model("openai:scripted", **options)
    built.run("the task")

    assert (built.settings.max_retries, built.settings.options["call_timeout"]) == (4, 20.0)
    assert built.graph.checkpointer is saver
    assert events


def test_an_unknown_option_is_refused():
    with pytest.raises(ConfigurationError, match=r"max_tries is no argument .* give any of .*max_retries"):
        from_model(ScriptedChatModel([]), max_tries=1)


def test_checks_are_derived_from_the_task_by_default():
    task = "Name a fruit. Use at most 2 words."
    model = ScriptedChatModel([f'{{"plan": ["{task}"]}}', "Apple", APPROVAL])

    [check] = from_model(model).run(task)["results"][0]["report"]["checks"]

    assert (check["check"], check["covers"], check["source"]) == ("word_count", "form", "task")


MISSING = {"error": {"message": "The model `m` does not exist"}}
AWAY = {
    "a login page": (encode(b"<p>Sign in</p>", 200, {"Content-Type": "text/html"}), "Sign in"),
    "no model": (encode(MISSING, 404), "model 'm'"),
    "a key that ended": (encode({"error": {"message": "the key has expired"}}, 401), "expired"),
    "nothing": (encode(b"", 200), "the answer is empty"),
}


def _pay_and_lose_the_server(protocol, lost):
    paid, servers = [], [lost, None]
    payment, done = ModelReply("", [("pay", {"to": "Ada"})], "tool_calls"), ModelReply("Ada is paid.")

    def pay(to: str) -> str:
        """Pay."""
        paid.append(to)
        return "paid"

    def answer(body):
        text = str(body)
        reply = ModelReply('{"missing": "nothing", "success": true, "feedback": "good"}')
        if "You check the work" not in text:
            if paid and servers[0]:
                return servers[0]
            reply = done if paid else payment
        return encode((write_stream if protocol == "ollama" else write_body)(protocol, reply))

    with serve_protocol(answer) as server:
        orchestrator = LangGraphOrchestrator.from_model(
            server.model(protocol),
            tools=[pay],
            planning="never",
            checkpointer=InMemorySaver(),
            retry_policy=RetryPolicy(transport=TransportRetry(max_attempts=2, initial_seconds=0)),
        )
        state = orchestrator.run("Pay Ada", "t")
        servers.pop(0)
        return state, orchestrator.resume("t"), paid


PAIRS = [*product(PROTOCOLS, AWAY)]


@pytest.mark.parametrize("pairs", [PAIRS[:: len(AWAY) + 1], pytest.param(PAIRS, marks=pytest.mark.thorough)])
def test_a_run_that_called_a_tool_waits_for_a_server_that_does_not_reply(subtests, pairs):
    for protocol, label in pairs:
        with subtests.test(f"{protocol}: {label}"):
            lost, words = AWAY[label]
            state, resumed, paid = _pay_and_lose_the_server(protocol, lost)
            assert (state["status"], resumed["status"], paid) == ("executing", "success", ["Ada"])
            assert words in state["failure"]["message"]


def test_the_client_of_each_specification_waits_as_long_as_a_call_of_an_agent_may_take(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://model.test/v1")
    loaded, model = [], ScriptedChatModel([])
    monkeypatch.setattr(engine, "load_model", lambda spec, **options: loaded.append((spec, options)) or model)

    LangGraphOrchestrator.from_model("openai:m", monitor_model="ollama:m", call_timeout=1200)

    # One client for the planner and the executor.
    assert [spec for spec, _ in loaded] == ["openai:m", "ollama:m"]
    assert loaded[0][1] == {"timeout": 1200}
