"""Writes contents and responses with the client of Gemini, on scripted replies."""

from google import genai
from google.genai import types
from scripted import ANSWER, BOTH, EMMA, MOBY, PNG, QUESTION, client, events, write

KIND = "gemini"


def call(args, **fields):
    return {"functionCall": {"name": "price_of", "args": args, **fields}}


def result(response, **fields):
    return {"functionResponse": {"name": "price_of", "response": response, **fields}}


def reply(*parts, finish="STOP"):
    content = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    tokens = {"promptTokenCount": 40, "candidatesTokenCount": 8, "totalTokenCount": 48}
    return {"candidates": [{**content, "finishReason": finish, "index": 0}], "usageMetadata": tokens}


def model(*replies):
    transport = {"httpx_client": client(replies)}
    return genai.Client(api_key="k", http_options=types.HttpOptions(**transport)).models


def talk(*turns):
    """Adds a user's turn (a list of parts), or asks the model for a reply."""
    contents, asked, response = [], [], None
    for turn in turns:
        if isinstance(turn, dict):
            asked = list(contents)
            response = model(turn).generate_content(model="gemini-x", contents=contents)
            contents += [each.content for each in response.candidates if each.content]
        else:
            contents.append(types.Content.model_validate({"role": "user", "parts": turn}))
    return contents, {"request": {"contents": asked}, "response": response}


asked = [{"text": QUESTION}]
turns = [asked, reply(call(MOBY)), [result({"result": 12.5})], reply({"text": ANSWER})]
snake = talk(*turns)[0]
write(KIND, "one-call", snake)
write(KIND, "camel-case", {"contents": [each.model_dump(mode="json", by_alias=True, exclude_none=True)
                                        for each in snake]})
write(KIND, "exchange", talk(*turns)[1])
write(KIND, "parallel-calls", talk([{"text": BOTH}], reply(call(MOBY, id="1"), call(EMMA, id="2")),
                                   [result({"result": 8}, id="2"), result({"result": 12.5}, id="1")],
                                   reply({"text": "12.5 and 8."}))[0])
write(KIND, "error-result", talk(asked, reply(call(MOBY)), [result({"error": "no such title"})],
                                 reply({"text": "I do not know."}))[0])
write(KIND, "missing-answer", talk(asked, reply(call(MOBY)))[1])
write(KIND, "refusal", talk([{"text": "Steal it."}], reply(finish="SAFETY"))[1])
write(KIND, "reasoning", talk(asked, reply({"text": "Look it up.", "thought": True}, call(MOBY)),
                              [result({"result": 12.5})], reply({"text": ANSWER}))[0])
image = {"inlineData": {"mimeType": "image/png", "data": PNG}}
write(KIND, "image", talk([{"text": "What is it?"}, image], reply({"text": "A pixel."}))[0])
code = [{"executableCode": {"language": "PYTHON", "code": "print(12.5)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "12.5"}}]  # fmt: skip
write(KIND, "code-execution", talk(asked, reply(*code, {"text": ANSWER}))[1])
write(KIND, "multi-turn", talk(*turns, [{"text": "And Emma?"}], reply(call(EMMA)), [result({"result": 8})],
                               reply({"text": "8 euros."}, finish="MAX_TOKENS"))[1])
streamed = model(events(reply({"text": "Moby Dick "}), reply({"text": "costs 12.5 euros."})))
chunks = streamed.generate_content_stream(model="gemini-x", contents=QUESTION)
parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
write(KIND, "streamed", [types.UserContent(QUESTION), types.ModelContent(parts)])
