"""Models of hosted providers by ``provider:name``, as LangChain's ``init_chat_model`` builds them."""

from __future__ import annotations

import pytest

from agents.errors import ModelSetupError
from agents.models.spec import load_model

AZURE = {"azure_endpoint": "http://model.test", "api_key": "sk-secret", "api_version": "v"}


def test_a_model_of_a_provider_has_a_timeout_and_no_retries_of_its_own() -> None:
    settings = load_model("azure_openai:m:8b", **AZURE, temperature=0.5).model_dump()
    assert (settings["model_name"], settings["temperature"]) == ("m:8b", 0.5)
    assert (settings["request_timeout"], settings["max_retries"]) == (120.0, 0)
    assert load_model("azure_openai:m", **AZURE, timeout=5.0).model_dump()["request_timeout"] == 5.0


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("azure_openai:m", "azure_openai:m cannot be built: Missing credentials"),
        ("mistralai:m", "mistralai:m cannot be built: .* `pip install langchain-mistralai`"),
        ("antropic:m", "antropic:m cannot be built: Unsupported .* anthropic, "),
    ],
)
def test_what_is_missing_is_one_sentence(spec: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelSetupError, match=reason) as caught:
        load_model(spec, **({"azure_endpoint": "http://model.test"} if spec == "azure_openai:m" else {}))
    assert "\n" not in str(caught.value)
