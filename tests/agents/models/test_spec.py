import pytest

from agents.errors import ModelSpecError
from agents.models.spec import load_model, timeout_option


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("ollama:llama3", "llama3"),
        (" ollama: llama3:8b ", "llama3:8b"),
        ("ollama:hf.co/owner/name:Q4_K_M", "hf.co/owner/name:Q4_K_M"),
    ],
)
def test_a_specification_is_a_kind_and_a_name(spec: str, name: str) -> None:
    assert load_model(spec).model_dump()["model"] == name


@pytest.mark.parametrize(
    "spec",
    ["", " ", ":", "llama3", "Local", "local:", "local:x", "ollama", "ollama:", "gguf:", "openai:",
     "antropic:claude", "anthropic:", "claude", ":local", None, 3, b"local", ["local"]],
)  # fmt: skip
def test_anything_else_is_answered_with_what_is_accepted(
    spec: object,
) -> None:
    with pytest.raises(ModelSpecError) as caught:
        load_model(spec)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith("the model specification ")
    assert repr(spec) in message
    assert all(
        known in message for known in ("local", "ollama:NAME", "gguf:PATH", "openai:NAME", "mistralai")
    )
    assert "\n" not in message


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("antropic:claude", "anthropic:claude"),
        ("google-genai:gemini", "google_genai:gemini"),
        ("Ollama:llama3:8b", "ollama:llama3:8b"),
        ("lokal", "local"),
        ("local:x", None),
        ("gemma", None),
        ("zzz:m", None),
    ],
)
def test_a_misspelt_provider_is_answered_with_the_closest_one(spec: str, meant: str | None) -> None:
    with pytest.raises(ModelSpecError) as caught:
        load_model(spec)
    assert ("did you mean" in str(caught.value)) == (meant is not None)
    assert meant is None or f"(did you mean {meant!r}?)" in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "seconds", "option"),
    [
        ("ollama:m", 600, {"client_kwargs": {"timeout": 600}}),
        ("openai:m", 2.5, {"timeout": 2.5}),
        ("local", 600, {"timeout": 600}),
        ("anthropic:m", 600, {}),
        ("ollama:m", None, {}),
        ("ollama:m", 0, {}),
        ("ollama:m", 10**400, {}),
    ],
)
def test_a_client_waits_as_long_as_a_call_may_take(spec: str, seconds: object, option: object) -> None:
    assert timeout_option(spec, seconds) == option
