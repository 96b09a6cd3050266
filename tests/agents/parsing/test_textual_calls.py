from agents.parsing.textual_calls import find_textual_call
from agents.parsing.thoughts import remove_thoughts
from tests.fakes.model_text import FENCE

TOOLS = {
    "look": ["at"],
    "pay": ["to", "amount"],
    "delete": ["path"],
    "write": ["content", "path"],
    "search": ["query"],
    "order": ["id"],
    "book": ["flight", "seats"],
    "now": [],
}
OBJECT = '{"name": "pay", "arguments": {"to": "Ada"}}'

CALLS = {
    "an object": '{"name": "pay", "parameters": {"to": "Ada"}}',
    "a list": f"[{OBJECT}]",
    "single quotes": "{'name': 'pay', 'arguments': {'to': 'Ada'}}",
    "a fenced object behind prose": f"Sure, I will pay:\n{FENCE}json\n{OBJECT}\n{FENCE}",
    "the name as the key": '{"pay": {"to": "Ada"}}',
    "OpenAI": '{"tool_calls": [{"function": {"name": "pay", "arguments": "{}"}}]}',
    "OpenAI in parallel": '{"recipient_name": "functions.pay", "parameters": {"to": "Ada"}}',
    "ReAct as JSON": '{"action": "pay", "action_input": {"to": "Ada"}}',
    "ReAct": 'Thought: I pay.\nAction: pay\nAction Input: {"to": "Ada"}',
    "Hermes": f"<tool_call>\n{OBJECT}\n</tool_call>",
    "Hermes without its end": '<tool_call>{"name": "pay", "arguments": {"to": "Ad',
    "Hermes with an unknown tool": '<tool_call>\n{"name": "payy", "arguments": {}}\n</tool_call>',
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
    "gpt-oss with its constraint": 'assistant to=functions.pay json {"to": "Ada"}',
    "Kimi without tokens": 'functions.pay:0{"to": "Ada"}',
    "arguments beside the name": '{"tool": "pay", "to": "Ada", "amount": 5}',
    "one argument beside the name": "{'command': 'search', 'query': 'boots'}",
    "another key of the name": '{"tool_name": "delete", "tool_args": {"path": "/x"}}',
    "a flat object without its end": '{"tool": "search", "query": "bo',
    "a long argument without its end": f'{{"name": "write", "arguments": {{"content": "{"Once. " * 2000}',
    "inline code within a fence": f"{FENCE}\n`pay(to='Ada')`\n{FENCE}",
    "a bold label": '**Tool call:** `pay(to="Ada")`',
    "an object behind the name": 'Calling tool: pay with {"to": "Ada"}',
    "an announcement": "I'll call pay(to='Ada') now.",
    "a last line": "The bill has to be paid first.\n\npay(to='Ada')",
    "a first line before a claim": "pay(to='Ada', amount=5)\n\nAda has been paid.",
    "a text in several lines": 'write(path="/x", content="one (1)\ntwo)")',
    "Python's quotes": "write(content='''\n{\"a\": 1}\n''')",
    "an expression without its end": "delete(path='/x",
    "two lines": "delete(path='/x')\ndelete(path='/y')",
    "a value of a position": '@delete("/x")',
    "a command": "$ delete --path /x",
    "an assignment": "delete path=/x",
    "an element with attributes": '<delete path="/x"/>',
    "lines": "tool: book\nflight: LH1\nseats: 2",
    "ReAct with a text": "Action: search\nAction Input: boots",
    "ReAct with an argument in brackets": "Thought: I pay.\nAction 1: pay[Ada]",
    "ReAct with no argument in brackets": "Action: now[]",
    "an element with its text behind it": "I pay.\n<tool>pay</tool><tool_input>Ada</tool_input>",
    "ReAct with an unknown tool": "Thought: I settle it.\nAction: settle[Ada, 5]",
    "ReAct with an unknown tool and a text": "**Action:** settle\n**Action Input:** Ada\nObservation: done",
    "Kimi with an unknown tool": 'functions.settle:0{"to": "Ada"}',
    "gpt-oss with an unknown tool": 'I settle it.\nassistant to=functions.settle json {"to": "Ada"}',
    "an object with an unknown tool": '{"name": "settle", "arguments": {"to": "Ada"}}',
    "a fenced object with an unknown tool": f'{FENCE}\n{{"action": "settle", "action_input": {{}}}}\n{FENCE}',
    "InternLM": '✿FUNCTION✿: search\n✿ARGS✿: {"query": "boots"}',
}
ANSWERS = {
    "nothing": "",
    "a report": "I paid Ada with pay.",
    "a link": "See [pay](http://localhost).",
    "HTML": '<form action="/pay"><ul class="tool"><li>pay</li></ul></form>',
    "data": '{"paid": true, "to": "Ada"}',
    "names": '["pay"]',
    "a tag in prose": "Use the <tool_call> tag in prompts.",
    "a tag in code": 'Models write `<tool_call>{"name": "pay"}</tool_call>` in text.',
    "a program": f"{FENCE}python\nfor name in names:\n    pay(to=name)\n{FENCE}",
    "a label": "Action: pay the bill.\nThen wait.",
    "a signature with types": "delete(path: str) removes a path.",
    "a bare signature": "pay(to, amount)",
    "an explanation": 'Use `delete(path="/tmp")` to remove a folder.',
    "advice": 'You would call `pay(to="Ada", amount=5)` for that.',
    "a sentence on a call": 'A call such as pay(to="Ada") has keywords, which are evaluated first.',
    "an example": f'It takes a path. For example:\n\n{FENCE}python\ndelete(path="/x")\n{FENCE}',
    "an example in a line": 'Example:\n\npay(to="Ada", amount=5)',
    "a list of tools": "- delete(path: str): removes a path\n- search(query: str): finds pages",
    "a table": "| tool | arguments |\n|---|---|\n| pay | to, amount |\n| search | query |",
    "a description": '{"tools": [{"name": "pay", "parameters": {"properties": {"to": {}}}}]}',
    "a definition": "def delete(path):\n    return remove(path)",
    "a program with calls": f'{FENCE}python\nclient = connect()\nclient.delete(path="/x")\n{FENCE}',
    "a page on other tools": f"ReAct writes\n{FENCE}\nAction: find[Ada]\nAction Input: x\n{FENCE}\nin text.",
    "a page on elements": 'Such as `<tool>find</tool>{"x": 1}`, or a <tool> of its own: pay.',
    "a signature in brackets": "Tool: search[query]",
    "an index in a label": "Result: pay[0] is 5",
    "statistics": '{"tool": "pay", "calls": 3, "failed": 0}',
    "a record with the name as a value": '{"type": "order", "id": "W1"}',
    "a record with the name as a key": '{"search": {"results": ["a"], "total": 1}}',
    "a decision": '{"action": "order"}',
    "an order": 'The order {"id": "W1"} was shipped to Ada on Monday.',
    "fields": "book: Dune\nauthor: Herbert",
    "a query": "The search query: boots",
    "SQL": "delete from t where path = '/x'",
    "a manual page": "See search(1) for the options.",
    "a remark": "The book (Dune) has 412 pages.",
    "a log": "The log says: pay(to='Ada') failed at 12:01, and was made again at 12:05.",
    "a sentence with an assignment": "order id=W1 was delivered to the customer yesterday",
    "an explained action": "ReAct writes a call in one line, for example:\nAction: find[Ada]",
    "an action with a condition": "Action: restart[now]\nThen wait.",
    "an action in words": "Action: restart the server [now]",
    "a namespace": "functions.settle is a function of the library {see below}",
    "a model with parameters": '{"name": "linear", "parameters": {"slope": 1}}',
}


def test_a_call_is_found_in_every_form(subtests):
    for form, text in CALLS.items():
        with subtests.test(form):
            assert find_textual_call(remove_thoughts(text), TOOLS) is not None


def test_an_answer_has_no_call(subtests):
    for form, text in ANSWERS.items():
        with subtests.test(form):
            assert find_textual_call(text, TOOLS) is None


def test_an_agent_without_tools_can_only_quote_a_call(subtests):
    for text in [CALLS["a fenced object behind prose"], CALLS["Hermes"]]:
        with subtests.test(text=text):
            assert find_textual_call(text, {}) is None


def test_prose_may_report_a_call_that_was_made_and_a_bare_call_reports_nothing():
    assert find_textual_call(f"I called {OBJECT}. It is paid.", TOOLS, reported=["pay"]) is None
    assert find_textual_call(OBJECT, TOOLS, reported=["pay"]) == "pay"


def test_a_reply_without_words_takes_no_time():
    tools = {f"look_{number}": ["at"] for number in range(30)}
    for part in ["\n", "Action: look_1[", "Action: look_1\n", "] "]:
        assert find_textual_call(f"Action: look_1[\n{part * 4000}x", tools) is None
