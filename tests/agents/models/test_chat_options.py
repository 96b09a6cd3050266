import pytest

from agents.errors import ModelSpecError
from agents.models.spec import load_model


def test_a_misspelt_option_is_answered_with_the_closest_name() -> None:
    with pytest.raises(
        ModelSpecError, match=r"'num_ctxt' is not a setting of ChatOllama; did you mean 'num_ctx'\?"
    ):
        load_model("ollama:m", num_ctxt=4096)


@pytest.mark.parametrize("name", ["model", "model_name"])
def test_an_option_cannot_change_what_the_specification_decides(name: str) -> None:
    with pytest.raises(ModelSpecError, match=f"option {name!r} is decided by the model specification"):
        load_model("openai:m", api_key="k", **{name: "other"})


def test_a_value_that_the_class_refuses_is_answered_without_the_value() -> None:
    with pytest.raises(ModelSpecError, match="option 'temperature' is not accepted") as caught:
        load_model("ollama:m", temperature="sk-secret")
    assert "sk-secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_alias_and_its_field_are_the_same_option() -> None:
    assert load_model("openai:m", api_key="k", request_timeout=5.0).model_dump()["request_timeout"] == 5.0
