"""Writes conversations and responses with the client of OpenAI, on scripted replies."""

from openai import OpenAI
from pydantic import BaseModel
from scripted import ANSWER, BOTH, EMMA, MOBY, PNG, QUESTION, client, events, write

TOOLS = [{"type": "function", "function": {"name": "price_of", "parameters": {"type": "object"}}}]
USAGE = {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48}


class Price(BaseModel):
    title: str
    euros: float


def call(number, args):
    function = {"name": "price_of", "arguments": str(args).replace("'", '"')}
    return {"id": f"call_{number}", "type": "function", "function": function}


def said(finish="stop", **message):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-x"}
    return {**head, "choices": [choice], "usage": USAGE}


def asks(*calls):
    return said("tool_calls", tool_calls=list(calls))


def talk(*turns):
    """Appends a user's turn (text or content) or a tool's answer; asks the model for each reply."""
    messages, request, response = [], {}, None
    for turn in turns:
        if isinstance(turn, dict) and "choices" in turn:
            api = OpenAI(api_key="k", http_client=client([turn]))
            request = {"model": "gpt-x", "messages": list(messages), "tools": TOOLS}
            response = api.chat.completions.create(**request)
            messages.append(response.choices[0].message)
        else:
            messages.append(turn)
    return messages, {"request": request, "response": response}


def user(content):
    return {"role": "user", "content": content}


def tool(number, content):
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}


def chunk(finish=None, **delta):
    head = {"id": "chatcmpl-2", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x"}
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


KIND = "openai-chat"
system = {"role": "system", "content": "You know prices."}
turns = [user(QUESTION), asks(call(1, MOBY)), tool(1, "12.5"), said(content=ANSWER)]
write(KIND, "one-call", talk(system, *turns)[0])
write(KIND, "exchange", talk(*turns)[1])
write(KIND, "parallel-calls", {"messages": talk(
    user(BOTH), asks(call(1, MOBY), call(2, EMMA)), tool(2, "8"), tool(1, "12.5"), said(content="12.5 and 8.")
)[0]})
write(KIND, "error-result", talk(user(QUESTION), asks(call(1, MOBY)), tool(1, '{"error": "no such title"}'),
                                 said(content="I do not know."))[0])
write(KIND, "missing-answer", talk(user(BOTH), asks(call(1, MOBY), call(2, EMMA)), tool(1, "12.5"))[0])
write(KIND, "refusal", talk(user("Steal it."), said(refusal="I cannot help with that."))[1])
write(KIND, "multi-turn", {"messages": talk(*turns, user("And Emma?"), asks(call(2, EMMA)), tool(2, "8"),
                                            said(content="Emma costs 8 euros."))[0], "metadata": {"run": "1"}})
image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
write(KIND, "image", talk(user([{"type": "text", "text": "What is it?"}, image]), said(content="A pixel."))[1])
write(KIND, "cut-off", talk(user(QUESTION), said("length", content="Moby Dick costs"))[1])
api = OpenAI(api_key="k", http_client=client([said(content='{"title": "Moby Dick", "euros": 12.5}')]))
parsed = api.chat.completions.parse(model="gpt-x", messages=[user(QUESTION)], response_format=Price)
write(KIND, "structured-output", {"messages": [user(QUESTION), parsed.choices[0].message]})
text = events(chunk(role="assistant", content="Moby Dick "), chunk(content="costs 12.5 euros."), chunk("stop"))
api = OpenAI(api_key="k", http_client=client([text + "data: [DONE]\n\n"]))
with api.chat.completions.stream(model="gpt-x", messages=[user(QUESTION)]) as stream:
    final = stream.get_final_completion()
write(KIND, "streamed", {"request": {"messages": [user(QUESTION)]}, "response": final})

KIND = "openai-responses"
HEAD = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-x", "tools": [], "tool_choice": "auto",
        "parallel_tool_calls": True}  # fmt: skip
TOKENS = {"input_tokens": 40, "output_tokens": 8, "total_tokens": 48,
          "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip


def item(number, args, **fields):
    text = str(args).replace("'", '"')
    named = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "price_of"}
    return {**named, "arguments": text, "status": "completed", **fields}


def result(number, output):
    return {"type": "function_call_output", "call_id": f"call_{number}", "output": output}


def text_item(text, **fields):
    part = {"type": "output_text", "text": text, "annotations": [], **fields}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def respond(asked, *output, **fields):
    body = {**HEAD, "status": "completed", "output": list(output), "usage": TOKENS, **fields}
    return OpenAI(api_key="k", http_client=client([body])).responses.create(model="gpt-x", input=asked)


def loop(*turns):
    """Adds what the user and the tools say, and the items of each response."""
    items, asked, response = [], [], None
    for turn in turns:
        if isinstance(turn, list):
            asked = list(items)
            response = respond(asked, *turn)
            items += [each.model_dump(mode="json", exclude_none=True) for each in response.output]
        else:
            items.append(turn)
    return items, {"input": asked, **response.model_dump(mode="json", exclude_none=True)}


write(KIND, "one-call", loop(user(QUESTION), [item(1, MOBY)], result(1, "12.5"), [text_item(ANSWER)])[1])
write(KIND, "items", loop(user(QUESTION), [item(1, MOBY)], result(1, "12.5"), [text_item(ANSWER)])[0])
write(KIND, "parallel-calls", loop(user(BOTH), [item(1, MOBY), item(2, EMMA)], result(2, "8"), result(1, "12.5"),
                                   [text_item("12.5 and 8.")])[0])
reasoning = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look it up."}]}
write(KIND, "reasoning", loop(user(QUESTION), [reasoning, item(1, MOBY)], result(1, "12.5"), [text_item(ANSWER)])[1])
write(KIND, "missing-answer", {"input": QUESTION, **respond(QUESTION, item(1, MOBY)).model_dump(mode="json")})
refusal = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
           "content": [{"type": "refusal", "refusal": "I cannot help with that."}]}  # fmt: skip
write(KIND, "refusal", {"request": {"input": "Steal it."}, "response": respond("Steal it.", refusal)})
write(KIND, "cut-off", {"request": {"input": QUESTION, "instructions": "Be brief."}, "response": respond(
    QUESTION, text_item("Moby Dick costs"), status="incomplete",
    incomplete_details={"reason": "max_output_tokens"})})
write(KIND, "failed", respond(QUESTION, status="failed", error={"code": "server_error", "message": "It broke."}))
search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}}
write(KIND, "server-tool", {"request": {"input": QUESTION}, "response": respond(QUESTION, search, text_item(ANSWER))})
write(KIND, "multi-turn", loop(user(QUESTION), [text_item("Which edition?")], user("The first."), [item(1, MOBY)],
                               result(1, '{"error": "sold out"}'), [text_item("It is sold out.")])[0])
final = {**HEAD, "status": "completed", "output": [text_item(ANSWER)], "usage": TOKENS}
where = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
empty = {**text_item(""), "status": "in_progress", "content": []}
part = {"type": "output_text", "text": "", "annotations": []}
text = events(
    {"type": "response.created", "sequence_number": 0, "response": {**HEAD, "status": "in_progress", "output": []}},
    {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": empty},
    {"type": "response.content_part.added", "sequence_number": 2, **where, "part": part},
    {"type": "response.output_text.delta", "sequence_number": 3, **where, "delta": ANSWER, "logprobs": []},
    {"type": "response.completed", "sequence_number": 4, "response": final},
)
with OpenAI(api_key="k", http_client=client([text])).responses.stream(model="gpt-x", input=QUESTION) as stream:
    write(KIND, "streamed", {"input": QUESTION, **stream.get_final_response().model_dump(mode="json")})
