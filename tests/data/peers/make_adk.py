"""Writes evalsets with Google's Agent Development Kit: sessions of scripted agents, converted by its own code."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.evaluation.eval_case import EvalCase, IntermediateData, Invocation, SessionInput
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.evaluation_generator import EvaluationGenerator
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from scripted import ANSWER, BOTH, EMMA, MOBY, PNG, QUESTION, write

PRICES = {"Moby Dick": 12.5, "Emma": 8}


def price_of(title: str) -> dict:
    """Return the price of a book."""
    return {"price": PRICES[title]} if title in PRICES else {"error": "no such title"}


class Scripted(BaseLlm):
    replies: list

    async def generate_content_async(self, llm_request, stream=False):
        parts = self.replies.pop(0)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part.model_validate(each) for each in parts]))


def call(args, name="price_of"):
    return {"function_call": {"name": name, "args": args}}


def text(words, **fields):
    return {"text": words, **fields}


def agent(*replies, name="shop", **options):
    options = {"tools": [price_of], **options}
    return LlmAgent(name=name, model=Scripted(model="scripted", replies=list(replies)), **options)


async def record(root, *questions):
    runner = InMemoryRunner(agent=root, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    for parts in questions:
        given = [text(parts)] if isinstance(parts, str) else parts
        content = types.Content(role="user", parts=[types.Part.model_validate(each) for each in given])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=content):
            pass
    session = await runner.session_service.get_session(app_name="app", user_id="u", session_id=session.id)
    return EvaluationGenerator.convert_events_to_eval_invocations(session.events)


def case(name, root, *questions):
    return EvalCase(eval_id=name, conversation=asyncio.run(record(root, *questions)),
                    session_input=SessionInput(app_name="app", user_id="u"))  # fmt: skip


def save(name, *cases, by_alias=True):
    kept = EvalSet(eval_set_id=name, name=name, eval_cases=list(cases))
    write("adk", name, kept.model_dump(mode="json", by_alias=by_alias, exclude_none=True))


ONE = ([call(MOBY)], [text(ANSWER)])
one = case("one-call", agent(*ONE), QUESTION)
save("one-call", one)
save("snake-case", one, by_alias=False)
save("two-cases", one, case("other", agent([text("Which one?")]), QUESTION))
save("parallel-calls", case("parallel", agent([call(MOBY), call(EMMA)], [text("12.5 and 8.")]), BOTH))
save("error-result", case("error", agent([call({"title": "x"})], [text("I do not know.")]), QUESTION))
save("multi-turn", case("turns", agent(*ONE, [call(EMMA)], [text("8 euros.")]), QUESTION, "And Emma?"))
clerk = agent(*ONE, name="clerk", description="Knows prices.")
save("nested-agent", case("nested", agent([call({"request": QUESTION}, "clerk")], [text(ANSWER)],
                                          tools=[AgentTool(clerk)]), QUESTION))
clerk = agent(*ONE, name="clerk", description="Knows prices.")
save("transfer", case("transfer", agent([call({"agent_name": "clerk"}, "transfer_to_agent")], sub_agents=[clerk]),
                      QUESTION))
save("reasoning", case("reasoning", agent([text("Look it up.", thought=True), call(MOBY)], [text(ANSWER)]), QUESTION))
image = {"inline_data": {"mime_type": "image/png", "data": PNG}}
save("image", case("image", agent([text("A pixel.")]), [text("What is it?"), image]))
used = IntermediateData(
    tool_uses=[types.FunctionCall(name="price_of", args=MOBY, id="1"), types.FunctionCall(name="price_of", args=EMMA)],
    tool_responses=[types.FunctionResponse(name="price_of", response={"price": 12.5}, id="1")],
    intermediate_responses=[("clerk", [types.Part(text="I look.")])])  # fmt: skip
older = Invocation(user_content=types.UserContent(BOTH), final_response=types.ModelContent("12.5 and 8."),
                   intermediate_data=used)  # fmt: skip
save("intermediate-data", EvalCase(eval_id="older", conversation=[older]))
save("without-response", EvalCase(eval_id="open", conversation=[Invocation(user_content=types.UserContent(QUESTION))]))
