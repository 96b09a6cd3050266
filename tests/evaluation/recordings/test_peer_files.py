import json

from evaluation import evaluate
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import read_runs
from tests.evaluation.recordings.peers import JAEGER, OTEL, PEERS, load, plant

FILES = sorted(f"{file.parent.name}/{file.stem}" for file in PEERS.glob("*/*.*"))
FORMATS = sorted({name.split("/")[0] for name in FILES})
MOBY, EMMA = ("Moby Dick", "12.5"), ("Emma", "8")


def read(name):
    [file] = PEERS.glob(f"{name}.*")
    return list(read_runs(file))


def describe(call):
    args = json.loads(call["args"]) if isinstance(call["args"], str) else call["args"]
    price = next((price for price in ("12.5", "8") if price in str(call.get("result"))), None)
    return args.get("title"), "error" if call.get("error") else price


def test_a_format_has_files_of_many_features(subtests):
    for name in FORMATS:
        with subtests.test(name=name):
            assert sum(file.startswith(f"{name}/") for file in FILES) >= 3


def test_every_file_is_a_run_that_can_be_evaluated(subtests):
    for name in FILES:
        with subtests.test(name=name):
            runs = read(name)

            assert runs
            for run in runs:
                assert isinstance(run, RecordedRun)
                assert evaluate(run.case).status != "invalid"


FEATURES = {
    # What the first run of a file with this feature calls, and a part of its warnings.
    "one-call": ([MOBY], ""),
    "exchange": ([MOBY], ""),
    "parallel-calls": ([MOBY, EMMA], ""),
    "missing-answer": ([..., (..., None)], "calls have no answer: price_of"),
    "image": ([], "image"),
    "reasoning": ([...], "not read (1)"),
    "nested-agent": ([(None, "12.5")], ""),
    "branches": ([MOBY], "branches that the user left are no part of the run"),
    "continued": ([MOBY], "entries before the summary of a compacted session are not in this file (1)"),
    "cut-off": ([], ""),
    "refusal": ([], ""),
}
FEATURED = [name for name in FILES if name.split("/")[1] in FEATURES]


def test_the_same_feature_is_the_same_calls_and_warnings_in_every_format(subtests):
    for name in FEATURED:
        with subtests.test(name=name):
            expected, warning = FEATURES[name.split("/")[1]]
            first, *_ = read(name)
            seen = [describe(call) for call in first.case["agent_run"]["tool_calls"]]

            if ... in expected:
                assert seen == [] or seen[-1] == MOBY or seen[-1][1] is None
            else:
                # Evalsets and traces name the nested agent's answer by its text alone.
                assert [pair[1] for pair in seen] == [pair[1] for pair in expected]
                assert [pair[0] for pair in seen if pair[0]] == [pair[0] for pair in expected if pair[0]]
            assert any(warning in each for each in (*first.warnings, ""))


def test_an_error_of_a_tool_is_a_failed_call(subtests):
    for name in [name for name in FILES if name.endswith(("/error-result", "/rejected", "-without-reason"))]:
        with subtests.test(name=name):
            [call] = read(name)[0].case["agent_run"]["tool_calls"]

            assert call["error"] or "error" in call["result"]


def test_a_run_without_a_whole_answer_does_not_pass(subtests):
    for name, words in (
        [(name, "cut off") for name in FILES if name.endswith("/cut-off")]
        + [(name, "blocked or refused") for name in FILES if name.endswith("/refusal")]
        + [(name, "ended in an error") for name in FILES if name.endswith(("/error-in-tool", "/loop"))]
        + [("openai-responses/failed", "ended in an error"), ("otel/error-result", "ended in an error")]
        + [("langgraph/waiting", "without a reply")]
    ):
        with subtests.test(name=name, words=words):
            report = evaluate({**read(name)[0].case, "required_content": [{"text": "o"}]})

            assert report.status != "passed"
            assert words in report.summary


def test_an_agent_that_a_tool_calls_is_a_run_of_its_own(subtests):
    for name in [
        *("atif", "claude-code", "jaeger", "langchain-trace", "langfuse", "langsmith"),
        *("openinference", "otel"),
    ]:
        with subtests.test(name=name):
            parent, child = read(f"{name}/nested-agent")

            assert len(parent.case["agent_run"]["tool_calls"]) == 1
            assert [describe(call) for call in child.case["agent_run"]["tool_calls"]] == [MOBY]


def test_tokens_are_those_of_all_calls_of_the_model_or_unknown():
    tokens = {name: read(name)[0].case["agent_run"].get("total_tokens") for name in FILES}

    assert tokens["openai-chat/cut-off"] == tokens["gemini/missing-answer"] == 48
    assert (tokens["otel/genai-openai"], tokens["otel/traceloop-openai-old"]) == (96, 96)
    assert (tokens["atif/cline"], tokens["langgraph/error"]) == (96, 48)
    assert tokens["openai-chat/exchange"] is None


HOLOGRAM = [{"type": "hologram", "data": "x"}]
TOOL = (*OTEL, 1, "attributes")
ADK_USER = ("eval_cases", 0, "conversation", 0, "userContent")
RERANKER = [{"key": "openinference.span.kind", "type": "string", "value": "RERANKER"}]
LOST = [{"refType": "CHILD_OF", "spanID": "f"}]
LOSSES = [
    ("openai-chat/one-call.json", (1, "content"), HOLOGRAM, "parts of the type hologram are not read (1)"),
    ("openai-chat/one-call.json", (3,), ..., "1 of 1 calls have no answer: price_of"),
    ("openai-chat/one-call.json", (2,), ..., "1 answers belong to no call"),
    ("openai-responses/items.json", (1,), {"type": "reasoning", "id": "r"}, "items of the type reasoning"),
    ("openai-responses/items.json", (0, "content"), HOLOGRAM, "parts of the type hologram"),
    ("openai-responses/items.json", (2,), ..., "1 of 1 calls have no answer"),
    ("anthropic/one-call.json", (0, "content"), HOLOGRAM, "parts of the type hologram"),
    ("anthropic/one-call.json", (2,), ..., "1 of 1 calls have no answer"),
    ("gemini/one-call.json", (0, "parts", 0), {"hologram": {"x": 1}}, "parts with hologram are not read (1)"),
    ("gemini/one-call.json", (2,), ..., "1 of 1 calls have no answer"),
    ("langchain/one-call.json", (0, "data", "content"), HOLOGRAM, "parts of the type hologram"),
    ("langchain/one-call.json", (2,), ..., "1 of 1 calls have no answer"),
    ("langgraph/one-call.json", (0, "next"), ["agent"], "the thread has not ended: next is ['agent']"),
    ("atif/cline.json", ("steps", 1, "observation"), ..., "1 of 1 calls have no answer"),
    ("otel/one-call.json", (*OTEL, 3), ..., "spans lack their parents; join the files of the trace"),
    ("otel/one-call.json", (*TOOL, 0, "value"), {"stringValue": "retrieval"}, "spans of retrieval"),
    ("otel/one-call.json", (*TOOL, 3), {"key": "x"}, "1 of 1 tool spans have no gen_ai.tool.call.arguments"),
    ("adk/one-call.json", (*ADK_USER, "parts", 0), {"fileData": {"x": 1}}, "fileData"),
    ("pydantic-ai/one-call.json", (1, "parts", 0, "part_kind"), "hologram", "1 answers belong to no call"),
    ("pydantic-ai/one-call.json", (3, "parts", 0, "part_kind"), "hologram", "texts: 3 in the file, 2 read"),
    ("tau2/tools-of-user.json", ("info",), {}, "ids of calls: 1 in the file, 0 read"),
    ("openhands/one-call.json", (1, "action"), None, "entries without a type are not read (1)"),
    ("jaeger/one-call.json", (*JAEGER, 0, "references"), LOST, "spans lack their parents"),
    ("jaeger/one-call.json", (*JAEGER, 1, "tags"), RERANKER, "spans of reranker are not read (1)"),
    ("phoenix/one-call.json", ("tools", "span_kind"), "EVALUATOR", "spans of evaluator are not read (1)"),
    ("phoenix/one-call.json", ("tools", "status_code"), "ERROR", "spans of chain are not read (1)"),
    ("langchain-trace/model-alone.json", ("inputs",), {"id": 7}, "inputs of spans are not read (1)"),
    ("langsmith/traceable.json", ("ask", "outputs"), {"output": "no"}, "not that of its conversation (4"),
    ("langfuse/one-call.json", ("observations", "tools", "type"), "EVENT", "spans of event are not read (1)"),
]


UNENDED = "the trace was written before its end"
UNFINISHED = [
    ("langchain-trace/one-call.json", ("end_time",), None, UNENDED),
    ("langchain-trace/one-call.json", ("outputs",), None, UNENDED),
    ("langsmith/traceable.json", ("ask", "end_time"), None, UNENDED),
    ("langfuse/one-call.json", ("observations", "LangGraph", "endTime"), None, UNENDED),
    ("otel/one-call.json", (*OTEL, 2, "status"), {"code": 2, "message": "overloaded"}, "overloaded"),
]


def test_a_trace_whose_end_is_missing_or_an_error_fails(subtests, read_written):
    for name, path, new, problem in UNFINISHED:
        with subtests.test(name=name, path=path, new=new):
            [run] = read_written(plant(name, path, new))
            report = evaluate({**run.case, "must_call": ["price_of"]})

            assert (report.status, problem in report.summary) == ("failed", True)


def test_of_several_replies_the_first_by_its_index_is_read_and_the_others_are_told(read_written):
    value = load("openai-chat/exchange.json")
    [choice] = value["response"]["choices"]
    other = {**choice, "index": 1, "message": {"role": "assistant", "content": "another reply"}}
    value["response"]["choices"] = [other, choice]

    [run] = read_written(value)
    assert "another reply" not in json.dumps(run.case)
    assert "1 other replies to the same request" in " ".join(run.warnings)


def test_a_response_that_was_not_completed_is_no_answer(subtests, read_written):
    for status in ["failed", "cancelled", "in_progress", "queued", "incomplete"]:
        with subtests.test(status=status):
            text = [{"type": "output_text", "text": "It costs 12.5 euros."}]
            reply = {"type": "message", "role": "assistant", "status": "completed", "content": text}
            value = {"object": "response", "status": status, "input": "What does it cost?", "output": [reply]}

            [run] = read_written(value)
            assert evaluate({**run.case, "required_content": [{"number": 12.5}]}).status == "needs_review"


def test_a_loss_is_named(subtests, read_written):
    for name, path, new, warning in LOSSES:
        with subtests.test(name=name, path=path, new=new):
            warnings = [text for run in read_written(plant(name, path, new)) for text in run.warnings]

            assert any(warning in text for text in warnings), warnings
