"""None in place of a text is an empty text."""

from agents import CompressContextTool, ExecutionAgent, MonitoringAgent
from agents.testing import ScriptedChatModel

REPLY = '{"plan": ["x"], "success": true, "feedback": "good"}'
CALLS = {
    "a context": lambda model, none: ExecutionAgent(model).execute_step("Do it", none),
    "an output that is corrected": lambda model, none: ExecutionAgent(model).correct_step("x", none, "why"),
    "a result": lambda model, none: MonitoringAgent(model).evaluate("Do it", none),
    "an objective": lambda model, none: MonitoringAgent(model).evaluate(none, "done"),
    "a text to compress": lambda _, none: CompressContextTool().compress(none),
}


def test_none_is_an_empty_text(subtests):
    for name, call in CALLS.items():
        with subtests.test(name=name):
            seen: dict[str | None, list[str]] = {None: [], "": []}
            answers = []
            for text, asked in seen.items():
                model = ScriptedChatModel(lambda messages, asked=asked: asked.append(str(messages)) or REPLY)
                answers.append(call(model, text))

            assert answers[0] == answers[1]
            assert seen[None] == seen[""]
