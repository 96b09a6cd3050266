"""Writes conversations with the client of Anthropic, on scripted replies."""

import httpx2
from anthropic import Anthropic
from scripted import ANSWER, BOTH, EMMA, MOBY, PNG, QUESTION, client, events, write

KIND = "anthropic"
HEAD = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_sequence": None}


def text(words):
    return {"type": "text", "text": words}


def call(number, args, kind="tool_use"):
    return {"type": kind, "id": f"toolu_{number}", "name": "price_of", "input": args}


def result(number, content, **fields):
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content, **fields}


def reply(*content, stop="end_turn"):
    return {**HEAD, "content": list(content), "stop_reason": stop, "usage": {"input_tokens": 40, "output_tokens": 8}}


def talk(*turns, **fields):
    """Adds a user's turn (a text or a list of parts), or asks the model for a reply."""
    messages, request, response = [], {}, None
    for turn in turns:
        if isinstance(turn, dict):
            api = Anthropic(api_key="k", http_client=client([turn], httpx2))
            request = {"model": "claude-x", "max_tokens": 99, "messages": list(messages), **fields}
            response = api.messages.create(**request)
            messages.append({"role": "assistant", "content": response.content})
        else:
            messages.append({"role": "user", "content": turn})
    return messages, {"request": request, "response": response}


asks = reply(call(1, MOBY), stop="tool_use")
turns = [QUESTION, asks, [result(1, "12.5")], reply(text(ANSWER))]
write(KIND, "one-call", talk(*turns)[0])
write(KIND, "exchange", talk(*turns, system="You know prices.")[1])
write(KIND, "parallel-calls", talk(BOTH, reply(text("I look."), call(1, MOBY), call(2, EMMA), stop="tool_use"),
                                   [result(2, [text("8")]), result(1, "12.5")], reply(text("12.5 and 8.")))[0])
write(KIND, "error-result", talk(QUESTION, asks, [result(1, "no such title", is_error=True)],
                                 reply(text("I do not know.")))[1])
write(KIND, "missing-answer", talk(QUESTION, asks)[1])
write(KIND, "refusal", talk("Steal it.", reply(stop="refusal"))[1])
thought = {"type": "thinking", "thinking": "Look it up.", "signature": "s"}
write(KIND, "reasoning", talk(QUESTION, reply(thought, call(1, MOBY), stop="tool_use"), [result(1, "12.5")],
                              reply(text(ANSWER)))[0])
image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
write(KIND, "image", talk([text("What is it?"), image], reply(text("A pixel.")))[0])
search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
failed = {"type": "web_search_tool_result", "tool_use_id": "srv_1",
          "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"}}  # fmt: skip
write(KIND, "server-tool", talk(QUESTION, reply(search, failed, text("I do not know.")))[1])
write(KIND, "cut-off", talk(QUESTION, reply(text("Moby Dick costs"), stop="max_tokens"))[1])
write(KIND, "multi-turn", {"messages": talk(*turns, "And Emma?", reply(call(2, EMMA), stop="tool_use"),
                                            [result(2, "8"), text("Be brief.")], reply(text("8 euros.")))[0]})
stream = events(
    {"type": "message_start", "message": {**reply(), "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {**call(1, {}), "input": {}}},
    {"type": "content_block_delta", "index": 0,
     "delta": {"type": "input_json_delta", "partial_json": '{"title": "Mo'}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": 'by Dick"}'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None},
     "usage": {"output_tokens": 8}},
    {"type": "message_stop"},
)  # fmt: skip
api = Anthropic(api_key="k", http_client=client([stream], httpx2))
asked = [{"role": "user", "content": QUESTION}]
with api.messages.stream(model="claude-x", max_tokens=99, messages=asked) as streamed:
    said = {"role": "assistant", "content": streamed.get_final_message().content}
last = talk(*turns[2:])[0]
write(KIND, "streamed", [*asked, said, *last])
