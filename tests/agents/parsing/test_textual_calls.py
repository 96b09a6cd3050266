"""A tool call that a model writes as text is found in every form, and an honest answer has none."""

from __future__ import annotations

from agents.parsing.textual_calls import find_textual_call
from agents.parsing.thoughts import remove_thoughts
from tests.fakes.model_text import FENCE

OBJECT = '{"name": "pay", "arguments": {"to": "Ada"}}'

CALLS = {
    "an object": '{"name": "pay", "parameters": {"to": "Ada"}}',
    "a list": f"[{OBJECT}]",
    "single quotes": "{'name': 'pay', 'arguments': {'to': 'Ada'}}",
    "a fenced object": f"{FENCE}json\n{OBJECT}\n{FENCE}",
    "a fenced object behind prose": f"Sure, I will pay:\n{FENCE}json\n{OBJECT}\n{FENCE}",
    "tool and args": '{"tool": "pay", "args": {"to": "Ada"}}',
    "the name as the key": '{"pay": {"to": "Ada"}}',
    "OpenAI": '{"tool_calls": [{"function": {"name": "pay", "arguments": "{}"}}]}',
    "OpenAI in parallel": '{"recipient_name": "functions.pay", "parameters": {"to": "Ada"}}',
    "ReAct as JSON": '{"action": "pay", "action_input": {"to": "Ada"}}',
    "ReAct": 'Thought: I pay.\nAction: pay\nAction Input: {"to": "Ada"}',
    "Hermes": f"<tool_call>\n{OBJECT}\n</tool_call>",
    "Hermes without its end": '<tool_call>{"name": "pay", "arguments": {"to": "Ad',
    "Hermes with an unknown tool": '<tool_call>\n{"name": "payy", "arguments": {}}\n</tool_call>',
    "Hermes behind thoughts": f"<think>I pay.</think>\n<tool_call>\n{OBJECT}\n</tool_call>",
    "GLM": "<tool_call>pay\n<arg_key>to</arg_key>\n<arg_value>Ada</arg_value>\n</tool_call>",
    "Qwen": "<function=pay>\n<parameter=to>\nAda\n</parameter>\n</function>",
    "Llama's function": '<function=pay>{"to": "Ada"}</function>',
    "Llama's token": '<|python_tag|>pay.call(to="Ada")',
    "pythonic": '[pay(to="Ada")]',
    "pythonic behind prose": 'I will pay now.\n[pay(to="Ada")]',
    "an expression": 'pay(to="Ada")',
    "Gemini": 'print(default_api.pay(to="Ada"))',
    "Gemma": f'{FENCE}tool_code\nprint(pay(to="Ada"))\n{FENCE}',
    "LFM": '<|tool_call_start|>[pay(to="Ada")]<|tool_call_end|>',
    "Mistral": f"[TOOL_CALLS][{OBJECT}]",
    "Mistral, newer": '[TOOL_CALLS]pay[ARGS]{"to": "Ada"}',
    "Claude": '<invoke name="pay"><parameter name="to">Ada</parameter></invoke>',
    "an element": "<pay><to>Ada</to></pay>",
    "MiniMax": '<minimax:tool_call>\n<invoke name="pay">',
    "LM Studio": f"[TOOL_REQUEST]{OBJECT}[END_TOOL_REQUEST]",
    "DeepSeek": f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>pay\n{FENCE}json\n{{}}\n{FENCE}",
    "DSML": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="pay">\n</｜DSML｜invoke>',
    "Kimi": '<|tool_call_begin|>functions.pay:0<|tool_call_argument_begin|>{"to": "Ada"}<|tool_call_end|>',
    "gpt-oss": '<|channel|>commentary to=functions.pay <|constrain|>json<|message|>{"to":"Ada"}<|call|>',
    "gpt-oss without tokens": 'to=functions.pay {"to": "Ada"}',
}
ANSWERS = {
    "nothing": "",
    "a report": "I paid Ada with pay.",
    "a signature": "The tool `pay(to)` pays.",
    "a link": "See [pay](http://localhost).",
    "HTML": '<form action="/pay"><ul class="tool"><li>pay</li></ul></form>',
    "data": '{"paid": true, "to": "Ada"}',
    "a record of the tool": '{"name": "pay", "kind": "tool"}',
    "names": '["pay"]',
    "a tag in prose": "Use the <tool_call> tag in prompts.",
    "a tag in code": 'Models write `<tool_call>{"name": "pay"}</tool_call>` in text.',
    "a program": f"{FENCE}python\nfor name in names:\n    pay(to=name)\n{FENCE}",
    "a label": "Action: pay the bill.\nThen wait.",
}


def test_a_call_is_found_in_every_form(subtests):
    for form, text in CALLS.items():
        with subtests.test(form):
            assert find_textual_call(remove_thoughts(text), ["look", "pay"]) is not None


def test_an_answer_has_no_call(subtests):
    for form, text in ANSWERS.items():
        with subtests.test(form):
            assert find_textual_call(text, ["look", "pay"]) is None


def test_an_agent_without_tools_can_only_quote_a_call(subtests):
    for text in [CALLS["a fenced object behind prose"], CALLS["Hermes"]]:
        with subtests.test(text=text):
            assert find_textual_call(text, []) is None


def test_prose_may_report_a_call_that_was_made_and_a_bare_call_reports_nothing():
    assert find_textual_call(f"I called {OBJECT}. It is paid.", ["pay"], reported=["pay"]) is None
    assert find_textual_call(OBJECT, ["pay"], reported=["pay"]) == "pay"
