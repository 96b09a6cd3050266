import socket
from itertools import product

import pytest
from langchain_core.exceptions import ModelAuthenticationError, ModelInvalidRequestError, ModelRefusalError

from agents import BaseAgent, ModelRefusedError, ModelUnavailableError, TransportRetry, load_model
from agents.testing import ScriptedChatModel
from tests.fakes.protocol_server import PROTOCOLS, encode, serve_protocol

ONCE = TransportRetry(max_attempts=1)


async def test_a_server_that_is_too_slow_says_what_to_raise(call_either):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        llm = load_model("ollama:m", base_url=url, client_kwargs={"timeout": 0.2})
        with pytest.raises(ModelUnavailableError, match=f"at {url} gave no answer in time: raise call"):
            await call_either(BaseAgent(llm, transport_retry=ONCE), "invoke", "x")


WORD = "Sommerwiese-Regen"
HEADERS = [{"X-Api-Key": WORD}, {"Authorization": f"Token {WORD}"}, {"cookie": WORD}, {"X-Gate-Token": WORD}]
SAID = {
    "a refusal": encode({"error": f"no access for {WORD}"}, 403),
    "no reply": encode({"padding": "." * 165, "key": WORD}),
    "a page": encode(f"<p>{'.' * 190} {WORD}</p>".encode(), 200, {"Content-Type": "text/html"}),
}


def _build_with_secret(server, protocol, headers):
    if headers is not None:
        kwargs = (
            {"client_kwargs": {"headers": headers}} if protocol == "ollama" else {"default_headers": headers}
        )
        return server.model(protocol, **kwargs)
    address = server.url.replace("//", f"//ada:{WORD}@") + ("/v1" if protocol == "openai" else "")
    key = {} if protocol == "ollama" else {"api_key": "x"}
    return load_model(f"{protocol}:m", base_url=address, **key)


def test_no_secret_of_the_settings_is_shown(subtests):
    for protocol, (label, answer) in product(PROTOCOLS, SAID.items()):
        for headers in [*HEADERS, None]:
            served = serve_protocol(lambda _, said=answer: said)
            with subtests.test(f"{protocol}: {label}", headers=headers), served as server:
                with pytest.raises((ModelRefusedError, ModelUnavailableError)) as caught:
                    BaseAgent(_build_with_secret(server, protocol, headers), transport_retry=ONCE).invoke("x")
                assert WORD[:8] not in str(caught.value)
                assert server.url in str(caught.value)


@pytest.mark.parametrize("kind", [ModelAuthenticationError, ModelInvalidRequestError, ModelRefusalError])
def test_an_error_of_langchain_without_a_status_is_a_refusal_in_its_words(kind):
    with pytest.raises(ModelRefusedError, match="the region is not served"):
        BaseAgent(ScriptedChatModel([kind("the region is not served")])).invoke("x")
