"""An error of a model's server is one sentence that names the address of the server."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from langchain_openai import ChatOpenAI

from agents import (
    BaseAgent,
    ExecutionAgent,
    ModelRefusedError,
    ModelUnavailableError,
    PromptTooLongError,
    TransportRetry,
    load_model,
)
from agents.testing import ScriptedChatModel

ONCE = TransportRetry(max_attempts=1)


def ask(llm, awaited: bool) -> str:
    agent = BaseAgent(llm, transport_retry=ONCE)
    return asyncio.run(agent.ainvoke("x")) if awaited else agent.invoke("x")


both_entries = pytest.mark.parametrize("awaited", [False, True], ids=["invoke", "ainvoke"])


@both_entries
def test_the_sentence_names_the_address(chat_server, awaited):
    chat_server.answers.append((404, {}, b'{"error": {"message": "no such model", "type": "x"}}'))
    with pytest.raises(ModelRefusedError) as caught:
        ask(chat_server.model(), awaited)
    assert str(caught.value).startswith(f"the model's server at {chat_server.url} failed (")
    assert "no such model" in str(caught.value)


@both_entries
@pytest.mark.parametrize(
    "detail",
    [
        '{"error":{"message":"request (2622 tokens) exceeds the available context size (512 tokens)"}}',
        "the input length exceeds the context length",
    ],
    ids=["0.34", "0.12.6"],
)
def test_a_prompt_that_does_not_fit_says_what_to_do(loopback, awaited, detail):
    server = loopback(400, json.dumps({"error": detail}).encode())
    with pytest.raises(PromptTooLongError, match=r"does not fit .*exceeds .*num_ctx"):
        ask(load_model("ollama:m", base_url=server.url), awaited)
    assert len(server.bodies) == 1


@both_entries
def test_a_server_that_is_too_slow_says_what_to_raise(awaited):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        llm = load_model("ollama:m", base_url=url, client_kwargs={"timeout": 0.2})
        with pytest.raises(ModelUnavailableError, match=f"at {url} gave no answer in time: raise call"):
            ask(llm, awaited)


def test_an_executor_with_tools_names_the_address_and_masks_the_key(chat_server):
    chat_server.will_refuse("the key swordfish is wrong", 401)
    llm = ChatOpenAI(model="m", base_url=chat_server.url, api_key="swordfish", max_retries=0)
    with pytest.raises(ModelRefusedError) as caught:
        ExecutionAgent(llm, [len]).execute_step("x")
    assert chat_server.url in str(caught.value)
    assert "swordfish" not in str(caught.value)


def test_an_error_that_no_server_sent_passes_unchanged():
    with pytest.raises(ZeroDivisionError, match=r"^mine$"):
        ask(ScriptedChatModel([ZeroDivisionError("mine")]), awaited=False)
