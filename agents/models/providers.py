"""Builds models of the hosted providers that LangChain has a package for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from agents.errors import ModelSetupError, ModelSpecError
from agents.models.chat_options import HTTP_DEFAULTS, build_chat_model, read_field_names

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# The names are those of LangChain's ``init_chat_model``. It is not used, because it builds a model without
# telling its class, which alone knows the options; its own table is private.
PROVIDERS: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("langchain_anthropic", "ChatAnthropic"),
    "anthropic_bedrock": ("langchain_aws", "ChatAnthropicBedrock"),
    "azure_ai": ("langchain_azure_ai.chat_models", "AzureAIOpenAIApiChatModel"),
    "azure_openai": ("langchain_openai", "AzureChatOpenAI"),
    "baseten": ("langchain_baseten", "ChatBaseten"),
    "bedrock": ("langchain_aws", "ChatBedrock"),
    "bedrock_converse": ("langchain_aws", "ChatBedrockConverse"),
    "bedrock_mantle_anthropic": ("langchain_aws", "ChatAnthropicMantle"),
    "bedrock_mantle_openai": ("langchain_aws", "ChatOpenAIMantle"),
    "cohere": ("langchain_cohere", "ChatCohere"),
    "deepseek": ("langchain_deepseek", "ChatDeepSeek"),
    "fireworks": ("langchain_fireworks", "ChatFireworks"),
    "google_anthropic_vertex": ("langchain_google_vertexai.model_garden", "ChatAnthropicVertex"),
    "google_genai": ("langchain_google_genai", "ChatGoogleGenerativeAI"),
    "google_vertexai": ("langchain_google_vertexai", "ChatVertexAI"),
    "groq": ("langchain_groq", "ChatGroq"),
    "huggingface": ("langchain_huggingface", "ChatHuggingFace"),
    "ibm": ("langchain_ibm", "ChatWatsonx"),
    "litellm": ("langchain_litellm", "ChatLiteLLM"),
    "meta": ("langchain_meta", "ChatMetaModel"),
    "mistralai": ("langchain_mistralai", "ChatMistralAI"),
    "nvidia": ("langchain_nvidia_ai_endpoints", "ChatNVIDIA"),
    "openrouter": ("langchain_openrouter", "ChatOpenRouter"),
    "perplexity": ("langchain_perplexity", "ChatPerplexity"),
    "together": ("langchain_together", "ChatTogether"),
    "upstage": ("langchain_upstage", "ChatUpstage"),
    "xai": ("langchain_xai", "ChatXAI"),
}
"""Module and class of each provider."""

_EXTRAS: Final = {"bedrock_mantle_anthropic": "[anthropic]", "bedrock_mantle_openai": "[openai]"}
_NAME_FIELDS: Final = ("model", "model_name", "model_id")


def build_provider_model(provider: str, name: str, options: Mapping[str, object]) -> BaseChatModel:
    """Builds a chat model of a hosted provider. Its key comes from the environment variable of its class.

    Args:
        provider: A key of ``PROVIDERS``.
        name: The model's name at the provider.
        options: Settings of the provider's class; by default a timeout of 120 s and no retries, if the class
            has settings for these.

    Raises:
        ModelSetupError: The provider's package or key is missing.
        ModelSpecError: An option is not accepted.
    """
    model_class = _import_class(provider, name)
    try:
        return _build(model_class, name, options)
    except (ModelSpecError, ModelSetupError):
        raise
    except Exception as error:  # each provider's library has its own for a missing key
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ModelSetupError(f"{provider}:{name} cannot be built: {reason}") from error


def _import_class(provider: str, name: str) -> type[BaseChatModel]:
    module, class_name = PROVIDERS[provider]
    folder = module.partition(".")[0]
    package = folder.replace("_", "-") + _EXTRAS.get(provider, "")
    install = f'run `pip install -U "{package}"`'
    if find_spec(folder) is None:
        raise ModelSetupError(f"{provider}:{name} needs the package {package}; {install}")
    try:
        found: type[BaseChatModel] = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError) as error:
        raise ModelSetupError(
            f"{provider}:{name} needs {class_name} of the package {package}, which cannot be imported "
            f"({error}); {install}"
        ) from error
    return found


def _build(model_class: type[BaseChatModel], name: str, options: Mapping[str, object]) -> BaseChatModel:
    # Only ChatHuggingFace has it: the class wraps a model that this method loads.
    from_id = getattr(model_class, "from_model_id", None)
    if from_id is not None:
        built: BaseChatModel = from_id(model_id=name, **options)
        return built
    fields = read_field_names(model_class)
    name_field = next((field for field in _NAME_FIELDS if field in fields), "model")
    defaults = {field: value for field, value in HTTP_DEFAULTS.items() if field in fields}
    return build_chat_model(model_class, fixed={name_field: name}, defaults=defaults, options=options)
