import pytest

from agents.errors import ModelSetupError, ModelSpecError
from agents.models.spec import load_model, timeout_option


def test_a_specification_is_a_kind_and_a_name(subtests: pytest.Subtests) -> None:
    for spec, name in [
        ("ollama:llama3", "llama3"),
        (" ollama: llama3:8b ", "llama3:8b"),
        ("ollama:hf.co/owner/name:Q4_K_M", "hf.co/owner/name:Q4_K_M"),
    ]:
        with subtests.test(spec=spec):
            assert load_model(spec).model_dump()["model"] == name


BAD_SPECS = ["", ":", "Local", "local:x", "ollama", "ollama:", "gguf:", "claude", ":local", None, b"local"]
KNOWN = ("local", "ollama:NAME", "gguf:PATH", "openai:NAME", "PROVIDER:NAME")


def test_anything_else_is_answered_with_what_is_accepted(subtests: pytest.Subtests) -> None:
    for spec in BAD_SPECS:
        with subtests.test(spec=spec):
            with pytest.raises(ModelSpecError) as caught:
                load_model(spec)  # type: ignore[arg-type]
            message = str(caught.value)
            assert message.startswith(f"the model specification {spec!r}")
            assert [known for known in KNOWN if known not in message] == []
            assert "\n" not in message


def test_a_client_waits_as_long_as_a_call_may_take(subtests: pytest.Subtests) -> None:
    for spec, seconds, option in [
        ("ollama:m", 600, {"client_kwargs": {"timeout": 600}}),
        ("openai:m", 2.5, {"timeout": 2.5}),
        ("local", 600, {"timeout": 600}),
        ("anthropic:m", 600, {}),
        ("ollama:m", None, {}),
        ("ollama:m", 0, {}),
        ("ollama:m", 10**400, {}),
    ]:
        with subtests.test(spec=spec, seconds=seconds):
            assert timeout_option(spec, seconds) == option


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(ModelSpecError, match="option 'num_ctxt' is not a setting of ChatOllama"):
        load_model("ollama:m", num_ctxt=4096)


def test_an_option_cannot_change_what_the_specification_decides(subtests: pytest.Subtests) -> None:
    for name in ["model", "model_name"]:
        told = f"option {name!r} is .* decided by the model specification"
        with subtests.test(name=name), pytest.raises(ModelSpecError, match=told):
            load_model("openai:m", api_key="k", **{name: "other"})


def test_a_value_that_the_class_refuses_is_answered_without_the_value() -> None:
    with pytest.raises(ModelSpecError, match="option 'temperature' is not accepted") as caught:
        load_model("ollama:m", temperature="sk-secret")
    assert "sk-secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_alias_and_its_field_are_the_same_option() -> None:
    assert load_model("openai:m", api_key="k", request_timeout=5.0).model_dump()["request_timeout"] == 5.0


AZURE = {"azure_endpoint": "http://model.test", "api_key": "sk-secret", "api_version": "v"}


def test_a_model_of_a_provider_has_a_timeout_and_no_retries_of_its_own() -> None:
    settings = load_model("azure_openai:m:8b", **AZURE, temperature=0.5).model_dump()
    assert (settings["model_name"], settings["temperature"]) == ("m:8b", 0.5)
    assert (settings["request_timeout"], settings["max_retries"]) == (120.0, 0)
    assert load_model("azure_openai:m", **AZURE, timeout=5.0).model_dump()["request_timeout"] == 5.0


def test_what_is_missing_is_one_sentence(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_API_KEY", raising=False)
    for spec, options, reason in [
        ("azure_openai:m", {"azure_endpoint": "http://model.test"}, "Missing credentials"),
        ("mistralai:m", {}, ".* `pip install langchain-mistralai`"),
        ("antropic:m", {}, "Unsupported .* anthropic, "),
    ]:
        with subtests.test(spec=spec):
            with pytest.raises(ModelSetupError, match=f"{spec} cannot be built: {reason}") as caught:
                load_model(spec, **options)
            assert "\n" not in str(caught.value)
