import pytest

from agents.errors import ModelSpecError
from agents.models import load_model
from agents.models.spec import ModelSpec, parse_spec


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("local", ModelSpec("local")),
        (" local ", ModelSpec("local")),
        ("ollama:llama3", ModelSpec("ollama", "llama3")),
        ("ollama:llama3:8b", ModelSpec("ollama", "llama3:8b")),
        ("ollama:hf.co/owner/name:Q4_K_M", ModelSpec("ollama", "hf.co/owner/name:Q4_K_M")),
        ("gguf:models/qwen.gguf", ModelSpec("gguf", "models/qwen.gguf")),
        ("gguf:C:\\models\\qwen.gguf", ModelSpec("gguf", "C:\\models\\qwen.gguf")),
        ("openai:gpt-4o-mini", ModelSpec("openai", "gpt-4o-mini")),
    ],
)
def test_a_specification_is_a_kind_and_a_name(text: str, expected: ModelSpec) -> None:
    assert parse_spec(text) == expected


@pytest.mark.parametrize(
    "spec",
    ["", " ", ":", "llama3", "Local", "local:", "local:x", "ollama", "ollama:", "gguf:", "openai:",
     "anthropic:claude", ":local", None, 3, b"local", ["local"]],
)  # fmt: skip
def test_anything_else_is_answered_with_what_is_accepted(
    spec: object,
) -> None:
    with pytest.raises(ModelSpecError) as caught:
        load_model(spec)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith("the model specification ")
    assert repr(spec) in message
    assert all(known in message for known in ("local", "ollama:NAME", "gguf:PATH", "openai:NAME"))
    assert "\n" not in message


def test_a_specification_error_is_also_a_value_error() -> None:
    with pytest.raises(ValueError, match="names no model"):
        parse_spec("nothing")
