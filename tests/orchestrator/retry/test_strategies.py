import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, check
from orchestrator import RetryPolicy
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import build as build_run
from tests.fakes.runs import call, refused_with

CONTRACT = {"checks": [{"check": "word_count", "min": 3}, {"check": "excludes", "texts": ["red"]}]}
THREAD = {"configurable": {"thread_id": "t"}}
WORDS, RED = "Use at least 3 words.", 'Do not use "red".'


def build(outputs, *rules, contract=CONTRACT, verdicts=(), **options):
    model, policy = ScriptedChatModel(outputs), RetryPolicy(max_retries=2, strategies=list(rules))
    options = {"contract": contract and EvaluationContract(**contract), "retry_policy": policy, **options}
    return build_run(ExecutionAgent(model), FakeMonitor(*verdicts), ["write"], **options), model


def run(outputs, *rules, **options):
    orchestrator, model = build(outputs, *rules, **options)
    return orchestrator.run("write"), model


def asked(model, call=1):
    """The texts of a call without the system prompt, which a whole task has none of."""
    return [message.text for message in model.prompts[call] if message.type != "system"]


def test_resample_sends_the_same_prompt_with_another_seed_and_temperature():
    state, model = run(["red", "blue", "a blue boat"], {"use": "resample", "temperature": 0.9})

    assert state["status"] == "success"
    assert model.prompts[0] == model.prompts[1] == model.prompts[2]
    (first, second, third) = model.samplings
    assert first == (None, None)
    assert second[0] == third[0] == 0.9
    assert len({second[1], third[1], None}) == 3


def test_feedback_may_show_the_refused_output_as_a_turn_of_the_chat():
    _, model = run(["red", "a blue boat"], {"use": "feedback", "last_output": "turn"})
    request, output, answer = asked(model)

    assert (request, output) == ("write", "red")
    assert "- Use at least 3 words; the text has 1 word." in answer
    assert "=====" not in answer
    assert model.samplings[1][0] == 0.7


def test_a_stated_requirement_is_told_without_the_output(subtests):
    for options in [{}, {"last_output": "none"}]:
        with subtests.test(options=options):
            _, model = run(["red", "a blue boat"], {"use": "feedback", **options})
            [prompt] = asked(model)

            assert prompt == "\n".join(["write", "", "Keep to these requirements:", f"- {WORDS}", f"- {RED}"])


def test_by_default_any_other_failure_is_told_after_the_output(subtests):
    for options in [
        {"contract": None, "verdicts": (refuse("no rhyme"), accept())},
        {"contract": {"checks": [{"check": "json"}]}},
        {"contract": {"keywords": ["hidden"]}},
        {"contract": None, "verdicts": (), "checks": [check(name="rhymes")(lambda context: False)]},
    ]:
        with subtests.test(options=options):
            _, model = run(["red", "a blue boat", "x"], {"use": "feedback"}, **options)

            assert asked(model)[1] == "red"


def test_by_default_a_step_that_called_a_tool_sees_its_output_and_need_not_call_again():
    sent = []

    def send(to: str) -> str:
        """Sends a mail."""
        sent.append(to)
        return "sent"

    model = ScriptedChatModel([call("send", to="Ann"), "red", "blue", "a blue boat"])
    contract = EvaluationContract(checks=[{"check": "word_count", "min": 3}])
    state = build_run(ExecutionAgent(model, [send]), plan=["send"], contract=contract).run("send")

    assert (state["status"], sent) == ("success", ["Ann"])
    assert [model.prompts[at][1].text for at in (2, 3)] == ["red", "blue"]


def test_escalate_calls_another_model_without_the_refused_output():
    strong = ScriptedChatModel(["a blue boat"])
    state, model = run(["red"], {"use": "escalate", "model": "strong"}, models={"strong": strong})

    assert state["output"] == "a blue boat"
    assert len(model.prompts) == 1
    assert asked(strong, 0)[0].startswith("write\n\nKeep to these requirements:")
    assert strong.samplings[0][0] is None


def test_a_strategy_that_cannot_work_is_refused_before_anything_runs(subtests):
    escalate, unknown = ({"use": "escalate", "model": model} for model in ("m", "nonsense"))
    for rule, options, sentence in [
        (unknown, {}, "a rule of strategies escalates to another model: the model"),
        (escalate, {"models": {"m": 5}}, "models has 5; give LangChain chat models"),
        ({"use": "ask_human"}, {}, "a rule of strategies is ask_human, but there is no checkpointer"),
    ]:
        with subtests.test(rule=rule), refused_with(sentence):
            build(["x"], rule, **options)


def test_a_persons_correction_is_told_to_the_executor():
    orchestrator, model = build(["red", "a blue boat"], {"use": "ask_human"}, checkpointer=InMemorySaver())
    orchestrator.run("write", "t")
    state = orchestrator.resume("t", {"answer": "correct", "text": "name a boat"})

    assert state["status"] == "success"
    assert state["results"][0]["decision"]["use"] == "correct"
    assert "name a boat" in asked(model)[0]


def cut_off():
    """The replies of a model whose process ends at the second call."""
    yield "red"
    raise KeyboardInterrupt


def test_a_run_that_was_cut_off_before_a_retry_makes_it_as_if_it_had_not_been(subtests):
    for rules in [
        [{"use": "resample"}],
        [{"use": "feedback", "last_output": "none"}],
        [{"use": "resample", "times": 1}, {"use": "feedback"}],
    ]:
        with subtests.test(rules=rules):
            _, whole = run(["red", "a blue boat"], *rules)
            store, replies = InMemorySaver(), cut_off()
            orchestrator, _ = build(lambda _, replies=replies: next(replies), *rules, checkpointer=store)
            with pytest.raises(KeyboardInterrupt):
                orchestrator.run("write", "t")

            again, model = build(["a blue boat"], *rules, checkpointer=store)
            assert again.resume("t")["status"] == "success"
            assert (model.prompts, model.samplings) == (whole.prompts[1:], whole.samplings[1:])


STRATEGIES = [
    {"use": "feedback"},
    {"use": "resample"},
    {"use": "escalate", "model": "other"},
    pytest.param({"use": "ask_human"}, marks=pytest.mark.sample),
]


def finish(orchestrator, state):
    while state["question"]:
        state = orchestrator.resume("t", {"answer": "deny", "text": "no"})
    keys = ("attempt", "result", "status", "decision", "sampling")
    return [[record[key] for key in keys] for record in state["results"]]


@pytest.mark.faults
@pytest.mark.parametrize("rule", STRATEGIES, ids=lambda rule: rule["use"])
def test_a_run_that_is_cut_off_after_any_event_ends_as_if_it_had_not_been(rule):
    def build_over(store):
        models = {"other": ScriptedChatModel(lambda _: "red")} if rule["use"] == "escalate" else None
        return build(lambda _: "red", rule, models=models, checkpointer=store)[0]

    whole = build_over(InMemorySaver())
    expected = finish(whole, whole.run("write", "t"))
    for cut in range(2, 1 + sum(1 for _ in build_over(InMemorySaver()).stream("write", "t"))):
        store = InMemorySaver()
        events = build_over(store).stream("write", "t")
        assert sum(1 for _ in zip(range(cut), events, strict=False)) == cut
        events.close()
        again = build_over(store)
        state = again.graph.get_state(THREAD).values
        has_ended = state["status"] in {"failed", "success"}

        assert finish(again, state if has_ended else again.resume("t")) == expected
