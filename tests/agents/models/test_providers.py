"""Models of hosted providers by ``provider:name``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.language_models import BaseChatModel

from agents.errors import ModelSetupError, ModelSpecError
from agents.models.providers import PROVIDERS
from agents.models.spec import load_model

PACKAGE = """
from agents.testing import ScriptedChatModel
from pydantic import Field

class ChatGroq(ScriptedChatModel):
    model_name: str = Field(alias="model")
    request_timeout: float | None = Field(default=None, alias="timeout")
    temperature: float = 0.7

    def __init__(self, **settings):
        super(ScriptedChatModel, self).__init__(**settings)
        if self.temperature > 1:
            raise RuntimeError("no key:\\nset GROQ_API_KEY")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Make a package importable for one test: `install(name, code)`."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name: str, code: str) -> None:
        (tmp_path / f"{name}.py").write_text(code)
        # So that the module is removed at the end of the test.
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)

    return write


def test_a_model_of_a_provider_is_an_object_of_its_class(install: Callable[[str, str], None]) -> None:
    install("langchain_groq", PACKAGE)
    model = load_model("groq:llama-3.3:70b", temperature=0.0)
    assert isinstance(model, BaseChatModel)
    assert type(model).__name__ == "ChatGroq"
    settings = model.model_dump()
    assert (settings["model_name"], settings["temperature"]) == ("llama-3.3:70b", 0.0)
    assert settings["request_timeout"] == 120.0


def test_a_setting_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_VERSION", raising=False)
    with pytest.raises(ModelSetupError, match=r"AzureChatOpenAI cannot be built: .*OPENAI_API_VERSION"):
        load_model("azure_openai:m", azure_endpoint="http://model.test", api_key="k")


def test_a_misspelt_option_is_refused(install: Callable[[str, str], None]) -> None:
    install("langchain_groq", PACKAGE)
    with pytest.raises(ModelSpecError, match=r"'temprature' is not a setting of ChatGroq; did you mean"):
        load_model("groq:m", temprature=0.0)


@pytest.mark.parametrize("provider", sorted(set(PROVIDERS) - {"azure_openai"}))
def test_a_missing_package_is_named_with_the_command_that_installs_it(provider: str) -> None:
    with pytest.raises(ModelSetupError) as caught:
        load_model(f"{provider}:m")
    package = PROVIDERS[provider][0].partition(".")[0].replace("_", "-")
    assert f"{provider}:m needs the package {package}" in str(caught.value)
    assert f'run `pip install -U "{package}' in str(caught.value)


@pytest.mark.parametrize("code", ["import a_package_that_is_missing", "ChatOther = None"])
def test_a_package_that_does_not_work_is_named_with_the_reason(
    install: Callable[[str, str], None], code: str
) -> None:
    install("langchain_groq", code)
    with pytest.raises(ModelSetupError, match=r"needs ChatGroq of the package langchain-groq, which cannot"):
        load_model("groq:m")


def test_an_error_of_the_providers_library_is_one_sentence(install: Callable[[str, str], None]) -> None:
    install("langchain_groq", PACKAGE)
    with pytest.raises(ModelSetupError) as caught:
        load_model("groq:m", temperature=2.0)
    assert str(caught.value) == "groq:m cannot be built: no key: set GROQ_API_KEY"
