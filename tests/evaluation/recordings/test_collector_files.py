import json

from evaluation.contract.intake import UnreadableCase
from tests.evaluation.recordings.peers import JAEGER, PEERS, load, plant, read


def describe(run):
    """Return what a run has in every dialect: its input, its calls, whether it failed, and its tokens."""
    fields = run.case["agent_run"]
    calls = [(each["name"], str(each["result"]), bool(each["error"])) for each in fields["tool_calls"]]
    return fields["input"], calls, bool(fields.get("error")), fields.get("total_tokens")


def test_the_same_trace_is_the_same_run_in_every_dialect(subtests):
    for feature, names in {
        "one-call.json": ["jaeger", "tempo", "phoenix", "langsmith", "langfuse"],
        "error-result.json": ["jaeger", "tempo", "langsmith", "langfuse"],
        "error-in-tool.json": ["jaeger", "phoenix", "langsmith", "langfuse"],
        "parallel-calls.json": ["tempo", "phoenix", "langsmith", "langfuse"],
        "nested-agent.json": ["jaeger", "langsmith", "langfuse"],
    }.items():
        expected = [describe(run) for run in read(f"openinference/{feature}")]
        for name in names:
            with subtests.test(feature=feature, name=name):
                assert [describe(run) for run in read(f"{name}/{feature}")] == expected


def test_a_vendors_own_tool_and_spans_in_several_lines_give_the_same_run(subtests):
    for name in [
        *("langsmith/traceable.json", "langfuse/otlp.json", "langsmith/two-traces.jsonl"),
        *("phoenix/two-traces.jsonl", "phoenix/frame.jsonl"),
    ]:
        with subtests.test(name=name):
            first = read(name)[0]

            assert describe(first) == describe(read("openinference/one-call.json")[0])
            assert first.warnings == ()


def test_each_trace_of_a_file_is_a_run():
    first, second = read("phoenix/two-traces.jsonl")

    assert first.case["case_id"] != second.case["case_id"]
    assert [call["error"] for call in second.case["agent_run"]["tool_calls"]] == [True]


def test_a_damaged_line_is_named_and_the_spans_of_the_others_are_read(read_written):
    lines = (PEERS / "phoenix/two-traces.jsonl").read_text().splitlines()

    broken, *runs = read_written(*lines[:3], "{broken", *lines[3:])

    assert isinstance(broken, UnreadableCase)
    assert (broken.where, len(runs)) == ("run.data:4", 2)


def test_an_id_in_base_64_is_named_in_hexadecimal_digits():
    [run] = read("tempo/one-call.json")

    assert len(bytes.fromhex(run.case["case_id"])) == 16


def nest(name, value, levels):
    for _ in range(levels):
        value = {name: [value]} if name == "data" else {name: value}
    return value


def test_hostile_exports_are_refused_or_read_and_never_raise(subtests, read_written):
    circle = load("phoenix/one-call.json")[0]["context"]["span_id"]
    for name, path, new in [
        ("phoenix/one-call.json", ("LangGraph", "attributes", "output.value"), nest("input", "x", 400)),
        ("phoenix/one-call.json", ("Scripted", "attributes", "llm.input_messages"), nest("data", {}, 200)),
        ("phoenix/one-call.json", ("LangGraph", "parent_id"), circle),
        ("phoenix/one-call.json", (0, "start_time"), "yesterday"),
        ("phoenix/one-call.json", (0, "context"), {"span_id": ["x"], "trace_id": 7}),
        ("jaeger/one-call.json", ("data", 0), nest("data", {"spans": []}, 200)),
        ("jaeger/one-call.json", (*JAEGER, 0, "tags"), "none"),
        ("jaeger/one-call.json", (*JAEGER, 0, "startTime"), 10**30),
        ("langsmith/one-call.json", (0, "child_runs"), nest("child_runs", [], 200)),
    ]:
        with subtests.test(path=path):
            assert read_written(plant(name, path, new))


def test_an_export_of_the_outermost_runs_alone_has_their_messages(read_written):
    said = [{"type": "human", "content": "Cancel A17"}, {"type": "ai", "content": "A17 is cancelled."}]
    run = {"id": "a", "trace_id": "a", "parent_run_id": None, "name": "LangGraph", "run_type": "chain"}
    times = {"start_time": "2026-11-02T10:00:00", "end_time": "2026-11-02T10:00:09"}
    [read] = read_written([{**run, **times, "inputs": {"messages": said[:1]}, "outputs": {"messages": said}}])
    messages = read.case["agent_run"]["messages"]

    assert [each["content"] for each in messages] == ["Cancel A17", "A17 is cancelled."]


def write_span(number, kind, begin, failed=False, **attributes):
    """Return a span of OpenInference; dots of the names are written as two underscores."""
    named = {"openinference.span.kind": kind, **{k.replace("__", "."): v for k, v in attributes.items()}}
    return {
        "traceId": "0a" * 16,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if number == 1 else f"{1:016x}",
        "name": kind.lower(),
        "startTimeUnixNano": str(10**18 + begin),
        "endTimeUnixNano": str(10**18 + begin + 5),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in named.items()],
        "status": {"code": 2 if failed else 1},
    }


def join(spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def test_spans_of_parallel_calls_are_joined_by_their_arguments(read_written):
    replied = "llm__output_messages__0__message__"
    asked = {f"{replied}role": "assistant"}
    for place, order in enumerate(("A17", "A18")):
        function = f"{replied}tool_calls__{place}__tool_call__function__"
        asked |= {f"{function}name": "cancel", f"{function}arguments": json.dumps({"order": order})}
    spans = [
        write_span(1, "AGENT", 0),
        write_span(2, "LLM", 1, **asked),
        # The second call begins first, and fails.
        write_span(3, "TOOL", 20, tool__name="cancel", input__value='{"order": "A17"}', output__value="ok"),
        write_span(4, "TOOL", 10, failed=True, tool__name="cancel", input__value='{"order": "A18"}'),
    ]

    [run] = read_written(join(spans))

    assert [bool(call.get("error")) for call in run.case["agent_run"]["tool_calls"]] == [False, True]
    assert run.case["agent_run"]["tool_calls"][0]["result"] == "ok"


def test_a_tool_that_asks_a_model_itself_is_an_agent_with_its_own_calls(subtests, read_written):
    said = {"llm__output_messages__0__message__role": "assistant"}
    content = "llm__output_messages__0__message__content"
    inner = write_span(3, "LLM", 3, **said, **{content: "Room 7 is free."})
    looked_up = write_span(4, "TOOL", 2, tool__name="get_rooms", input__value="{}", output__value="[7]")
    spans = [
        write_span(1, "AGENT", 0),
        write_span(2, "TOOL", 1, tool__name="find_room", input__value="{}", output__value="7"),
        *({**span, "parentSpanId": f"{2:016x}"} for span in (looked_up, inner)),
        write_span(5, "LLM", 20, **said, **{content: "I found room 7."}),
    ]
    own = [(["find_room"], "I found room 7."), (["get_rooms"], "Room 7 is free.")]
    # Without the span that called the tool, nothing tells an agent in an agent from the agent itself.
    one = [(["find_room", "get_rooms"], "I found room 7.")]
    without_model = [span for span in spans if span["spanId"] != inner["spanId"]]
    for recorded, expected in [(spans, own), (spans[1:], one), (without_model, one)]:
        with subtests.test(spans=len(recorded)):
            runs = [run.case["agent_run"] for run in read_written(join(recorded))]

            names = [[call["name"] for call in run["tool_calls"]] for run in runs]
            assert [*zip(names, (run["messages"][-1]["content"] for run in runs), strict=True)] == expected


def test_an_output_of_an_agent_that_is_not_in_its_messages_is_told(subtests, read_written):
    for output, warned in [("Done.", 0), ("[removed by a guard]", 1)]:
        with subtests.test(output=output):
            role = "llm__output_messages__0__message__role"
            reply = {role: "assistant", "llm__output_messages__0__message__content": "Done."}
            spans = [write_span(1, "AGENT", 0, output__value=output), write_span(2, "LLM", 1, **reply)]

            [run] = read_written(join(spans))

            assert len([each for each in run.warnings if "not part of the conversation" in each]) == warned
