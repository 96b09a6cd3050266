import asyncio
import gc
import json
import pickle
import threading
import tracemalloc
from contextlib import contextmanager
from itertools import count, islice, product

import pytest
from hypothesis import given
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables.config import var_child_runnable_config

from evaluation import ContractError, aevaluate, build_evaluation_graph, evaluate, evaluate_many
from evaluation.contract.contract import EvaluationCase, EvaluationContract
from evaluation.runner import NODES
from evaluation.testing import ScriptedJudge
from tests.evaluation.cases import cases, json_values

CASE = {
    "agent_run": {"final_output": "Order 12345 is currently in transit.", "tool_calls": ["lookup_order"]},
    "reference_output": "Order 12345 is in transit.",
    "expected_trajectory": ["lookup_order"],
    "thresholds": {"rouge_1": 0.8},
}
GOOD = {"score": 5, "rationale": "Clear."}


def approving(request):
    return GOOD


def numbered(number):
    return {**CASE, "case_id": str(number)}


GRAPH = build_evaluation_graph(ScriptedJudge(approving))


class NodeCounter(BaseCallbackHandler):
    def __init__(self):
        self.names = []

    def on_chain_start(self, serialized, inputs, *, name=None, metadata=None, **_):
        if name in NODES and (metadata or {}).get("langgraph_node") == name:
            self.names.append(name)


@contextmanager
def engine_config(config):
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


@given(cases)
def test_the_graph_and_the_direct_path_give_the_same_report(case):
    in_graph, direct = NodeCounter(), NodeCounter()
    state = GRAPH.invoke(case, {"callbacks": [in_graph]})
    with engine_config({"callbacks": [direct]}):
        report = evaluate(case, judge=ScriptedJudge(approving))

    assert (in_graph.names[0], in_graph.names[-1]) == ("prepare_evaluation", "finalize_report")
    assert direct.names == []
    assert report.model_dump() == state["evaluation_report"]


@given(json_values)
def test_no_json_raises_and_none_passes(value):
    assert evaluate(value).status == "invalid"
    assert evaluate({"agent_run": value}).status in {"invalid", "needs_review"}


@given(cases)
def test_the_same_case_gives_the_same_report_and_stays_as_it_is(case):
    before = json.dumps(case)

    assert evaluate(case) == evaluate(case)
    assert json.dumps(case) == before


async def test_the_async_entries_give_the_same_report():
    case = {**CASE, "rubric": {"criteria": [{"name": "clarity"}]}}
    in_graph, direct = NodeCounter(), NodeCounter()

    state = await GRAPH.ainvoke(case, {"callbacks": [in_graph]})
    with engine_config({"callbacks": [direct]}):
        report = await aevaluate(case, judge=ScriptedJudge(approving))

    assert (in_graph.names, direct.names) == (list(NODES), [])
    assert report.model_dump() == state["evaluation_report"]


async def test_a_blocking_judge_does_not_block_the_loop():
    asked, released = threading.Event(), threading.Event()

    def waiting(request):
        asked.set()
        assert released.wait(10)
        return GOOD

    case = {**CASE, "subjective_criteria": ["clarity"]}
    task = asyncio.create_task(aevaluate(case, judge=ScriptedJudge(waiting)))
    assert await asyncio.to_thread(asked.wait, 10)
    released.set()

    assert (await task).status == "passed"


def test_the_argument_contract_stands_in_place_of_the_demands_of_a_case(subtests):
    messages = [{"role": "user", "content": "Say hello."}, {"role": "assistant", "content": "hello"}]
    wants = {text: {"checks": [{"check": "contains", "texts": [text]}]} for text in ("hello", "bye")}
    runs = {
        "messages": messages,
        "a state with messages": {"messages": messages, "files": {}},
        "a case": {"agent_run": {"messages": messages}, **wants["bye"]},
        "a model": EvaluationCase(agent_run={"messages": messages}, **wants["bye"]),
    }
    for (name, run), (text, status) in product(runs.items(), {"hello": "passed", "bye": "failed"}.items()):
        with subtests.test(run=name, wanted=text):
            assert evaluate(run, contract=wants[text]).status == status
            assert asyncio.run(aevaluate(run, contract=EvaluationContract(**wants[text]))).status == status


def test_a_contract_that_is_no_object_is_refused():
    with pytest.raises(ContractError, match=r"contract is a list; give an object, such as"):
        evaluate(CASE, contract=["lookup_order"])


def test_the_argument_baseline_goes_before_that_of_the_case():
    run = {**CASE["agent_run"], "latency_ms": 10}
    case = {**CASE, "agent_run": run, "baseline_metrics": {"latency_ms": 10}}

    assert evaluate(case).alerts == []
    assert evaluate(case, baseline={"latency_ms": 1}).alerts != []
    assert evaluate(EvaluationCase.model_validate(case), baseline={"latency_ms": 1}).alerts != []


def test_many_are_read_as_the_reports_are_taken():
    reports = evaluate_many(map(numbered, count()))

    assert [report.case_id for report in islice(reports, 3)] == ["0", "1", "2"]


def test_a_broken_case_among_many_is_told_and_the_rest_evaluated():
    statuses = [report.status for report in evaluate_many([CASE, {"agent_run": 1}, CASE])]

    assert statuses == ["passed", "invalid", "passed"]


def test_one_case_or_a_path_is_no_source_of_many(subtests):
    for source in ["runs.jsonl", CASE]:
        told = "give a list of cases, or read a file with read_cases"
        with subtests.test(source=source), pytest.raises(ContractError, match=told):
            evaluate_many(source)


def test_what_the_source_raises_comes_after_the_reports_before_it():
    def source():
        yield CASE
        raise OSError("the file ends here")

    reports = evaluate_many(source())
    assert next(reports).status == "passed"
    with pytest.raises(OSError, match="ends here"):
        next(reports)


def test_a_judge_is_asked_side_by_side_and_no_more_than_allowed():
    busy, most, lock, both = 0, 0, threading.Lock(), threading.Barrier(2)

    def slow(request):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        both.wait(10)
        with lock:
            busy -= 1
        return GOOD

    some = [{**numbered(number), "subjective_criteria": ["clarity"]} for number in range(8)]
    reports = list(evaluate_many(some, judge=ScriptedJudge(slow), concurrency=2))

    assert [report.case_id for report in reports] == [str(number) for number in range(8)]
    assert most == 2


@pytest.mark.soak
def test_memory_does_not_grow_with_the_number_of_cases():
    def used_after(number):
        tracemalloc.start()
        reports = evaluate_many(numbered(at) for at in range(number + 1))
        for _ in islice(reports, number):
            pass
        gc.collect()  # Python keeps freed tuples for new ones until then
        used, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return used

    used_after(20)
    assert used_after(250) - used_after(50) < 200 * 100  # bytes


def test_the_summary_of_messages_alone_says_that_the_answer_is_not_verified():
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]

    assert evaluate(said).summary == "passed: no defect found; the answer is not verified"


def test_a_worker_process_may_be_sent_the_functions(subtests):
    for function in (evaluate, aevaluate):
        with subtests.test(function=function.__name__):
            assert pickle.loads(pickle.dumps(function)) is function
