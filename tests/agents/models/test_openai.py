import pytest
from langchain_openai import ChatOpenAI

from agents.errors import ModelSetupError
from agents.models.embedded import Endpoint
from agents.models.spec import load_model

HELLO = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}'


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def embedded(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", endpoint.api_key)
    return endpoint


def test_the_endpoint_and_the_key_come_from_the_environment(embedded: Endpoint) -> None:
    model = load_model("openai:any-name", max_tokens=4)
    assert isinstance(model, ChatOpenAI)
    assert model.invoke("Hi").text


@pytest.mark.parametrize("key", [None, ""])
def test_a_missing_key_is_one_sentence_that_names_the_variable(key: str | None, monkeypatch) -> None:
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(
        ModelSetupError, match=r"openai:gpt-4o-mini needs a key, and OPENAI_API_KEY is not set; run"
    ):
        load_model("openai:gpt-4o-mini")


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_an_endpoint_of_ones_own_needs_no_key(variable: str, loopback, monkeypatch) -> None:
    server = loopback(200, HELLO, {"Content-Type": "application/json"})
    monkeypatch.setenv(variable, f"{server.url}/v1")
    assert load_model("openai:m").invoke("Hello").text == "Hi"
    assert server.paths == ["/v1/chat/completions"]
