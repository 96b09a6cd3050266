from evaluation import evaluate
from evaluation.recordings.recorded_run import RecordedRun
from tests.evaluation.importers.conversations import tool_result, tool_use
from tests.evaluation.messages import answered, calling, said, user

USER, REPLY = user("What does it cost?"), said("It costs 12.5 euros.")


def write_chat(mark):
    return [USER, calling("price_of"), answered("price_of", **{"content": "12.5", **mark}), REPLY]


def write_anthropic(mark):
    return [USER, said([tool_use("1", "price_of")]), user([tool_result("1", "12.5", **mark)]), REPLY]


def write_atif(mark):
    call = {"tool_call_id": "1", "function_name": "price_of", "arguments": {}}
    result = {"source_call_id": "1", "content": "12.5", "extra": mark}
    step = {"source": "agent", "message": "", "tool_calls": [call], "observation": {"results": [result]}}
    steps = [{"source": "user", "message": "price?"}, step, {"source": "agent", "message": "12.5 euros"}]
    return {"schema_version": "ATIF-v1.7", "steps": steps}


def write_span(mark):
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "price_of"}
    pairs = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    span = {"traceId": "t", "spanId": "a", "name": "execute_tool", "attributes": pairs, **mark}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def test_a_mark_that_is_not_one_of_a_success_is_an_error(subtests, read_written):
    for write, mark, is_error in [
        (write_chat, {"status": "failed"}, True),
        (write_chat, {"status": 7}, True),
        (write_chat, {"status": "success"}, False),
        (write_chat, {"status": "completed", "error": None}, False),
        (write_anthropic, {"is_error": "yes"}, True),
        (write_anthropic, {"is_error": 1}, True),
        (write_anthropic, {"is_error": ["x"]}, True),
        (write_anthropic, {"is_error": False}, False),
        (write_anthropic, {"is_error": "False"}, False),
        (write_atif, {"status": "failed"}, True),
        (write_atif, {"status": "completed"}, False),
        (write_span, {"status": {"code": "STATUS_CODE_ERROR"}}, True),
        (write_span, {"status": {"code": 2}}, True),
        (write_span, {"status": {"code": "broken"}}, True),
        (write_span, {"status": {}}, False),
        (write_span, {"status": {"code": "STATUS_CODE_OK"}}, False),
        (write_span, {"status": {"code": "UNSET"}}, False),
        (write_span, {"status": {"code": 1}}, False),
    ]:
        with subtests.test(write=write, mark=mark):
            [run] = read_written(write(mark))
            [call] = run.case["agent_run"]["tool_calls"]

            assert bool(call.get("error")) is is_error


def test_the_words_of_an_error_answer_a_call_without_a_content(subtests, read_written):
    for mark, result in [
        ({"content": "", "error": "no price list"}, "no price list"),
        ({"content": None, "error": {"type": "unknown", "message": "no price list"}}, "no price list"),
        ({"content": [{"type": "text", "content": ""}], "error": "no price list"}, "no price list"),
        ({"content": "12.5", "error": "no price list"}, "12.5"),
        ({"content": [{"type": "text", "content": "12.5"}]}, "12.5"),
    ]:
        with subtests.test(mark=mark):
            [run] = read_written(write_chat(mark))

            assert run.case["agent_run"]["tool_calls"][0]["result"] == result


CHOICES = [{"message": REPLY, "finish_reason": "stop"}]
AROUND = {
    "messages": {"messages": [USER, REPLY]},
    "request and response": {"messages": [USER], "choices": CHOICES},
    "response inside": {"request": {"messages": [USER]}, "response": {"choices": CHOICES}},
    "ATIF": write_atif({}),
    "tau-bench": {"task_id": 1, "reward": 1.0, "traj": [USER, REPLY]},
    "snapshot": {"values": {"messages": [USER, REPLY]}},
}


def test_an_error_beside_the_messages_is_the_error_of_the_run(subtests, read_written):
    for name, around in AROUND.items():
        for error in [{"message": "rate limit"}, "rate limit", ["rate limit"]]:
            with subtests.test(name=name, error=error):
                [run] = read_written({**around, "error": error})

                assert "rate limit" in run.case["agent_run"]["error"]
                assert evaluate({**run.case, "required_content": [{"number": 12.5}]}).status == "failed"


def test_an_empty_error_beside_the_messages_is_none(subtests, read_written):
    for error in [None, "", False, {}]:
        with subtests.test(error=error):
            [run] = read_written({**AROUND["messages"], "error": error})

            assert isinstance(run, RecordedRun)
            assert "error" not in run.case["agent_run"]


def test_calls_that_cannot_be_read_are_refused(subtests, read_written):
    for calls in [{"a": 1}, [None], "x", [{"tool_call_id": "1", "arguments": {}}]]:
        with subtests.test(calls=calls):
            value = write_atif({})
            value["steps"][1]["tool_calls"] = calls

            [run] = read_written(value)

            assert "tool_calls" in run.problem or "tool call without a name" in run.problem
