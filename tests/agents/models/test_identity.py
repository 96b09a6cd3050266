from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI

from agents import load_model
from agents.models import embedded
from agents.models.identity import identify_model
from agents.testing import ScriptedChatModel

SECRET = "sk-very-secret"


def openai(**options):
    return ChatOpenAI(
        **{"model": "gpt-x", "api_key": SECRET, "base_url": "https://host.example/v1", **options}
    )


def test_another_name_endpoint_or_setting_is_another_model_and_a_patience_is_none(subtests):
    assert identify_model(openai()) == identify_model(openai(timeout=7.0, max_retries=3))
    for other in [
        {"model": "gpt-y"},
        {"base_url": "https://other.example/v1"},
        {"base_url": "https://host.example:444/v1"},
        {"temperature": 1.0},
        {"reasoning_effort": "high"},
    ]:
        with subtests.test(other=other):
            assert identify_model(openai(**other)) != identify_model(openai())


def test_credentials_are_not_part_of_a_name(subtests):
    for address in [
        "https://host.example/v1",
        f"https://user:{SECRET}@host.example/v1",
        f"https://host.example/v1?key={SECRET}",
        "https://host.example/v1/",
    ]:
        with subtests.test(address=address):
            assert SECRET not in identify_model(openai(base_url=address))
            assert identify_model(openai(base_url=address)) == identify_model(openai())


def test_an_ollama_model_is_named_by_its_server(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "one.example")
    first = identify_model(load_model("ollama:llama3.2"))
    monkeypatch.setenv("OLLAMA_HOST", f"user:{SECRET}@two.example")
    second = identify_model(load_model("ollama:llama3.2"))

    assert "llama3.2 http://one.example:11434" in first
    assert first != second
    assert SECRET not in second
    third = identify_model(ChatOllama(model="llama3.2", base_url="http://three.example"))
    assert third not in {first, second}


def test_what_has_no_name_of_its_own_is_not_identified(subtests):
    for llm in [None, "local", object(), ScriptedChatModel([]), openai().bind(stop=["x"])]:
        with subtests.test(llm=llm):
            assert identify_model(llm) is None


def test_served_weights_are_named_by_their_content(monkeypatch, tmp_path):
    def name_of(content, file):
        (tmp_path / file).write_bytes(content)
        served = embedded.Endpoint("http://127.0.0.1:1234/v1", "key", None)
        monkeypatch.setattr(embedded, "_running", {(tmp_path / file, 100): served})
        return identify_model(openai(model="same-name", base_url=served.base_url))

    first, second, moved = name_of(b"GGUF 1", "a"), name_of(b"GGUF 2", "b"), name_of(b"GGUF 1", "c")

    assert first == moved
    assert first != second
    assert "127.0.0.1" not in first


def test_the_embedded_model_is_named_by_its_content(embedded_llm):
    assert "SmolLM2-135M-Instruct.Q4_1 sha256:" in identify_model(embedded_llm)
