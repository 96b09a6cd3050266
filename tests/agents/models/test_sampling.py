from __future__ import annotations

from langchain_core.caches import InMemoryCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from agents.models.model_call import Sampling, apply_sampling
from agents.testing import ScriptedChatModel


class Serializable(BaseChatModel):
    """A chat model that LangChain's caches know by its settings, as those of hosted models are."""

    temperature: float | None = None
    seed: int | None = None

    @property
    def _llm_type(self):
        return "serializable"

    @classmethod
    def is_lc_serializable(cls):
        return True

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        message = AIMessage(f"temperature {self.temperature}, seed {self.seed}")
        return ChatResult(generations=[ChatGeneration(message=message)])


def count_up():
    replies = iter(range(100))
    return ScriptedChatModel(lambda prompt: str(next(replies)))


def test_a_cached_reply_is_used_for_the_same_sampling_only(subtests):
    for build in [Serializable, count_up]:
        with subtests.test(build=build):
            model = build().model_copy(update={"cache": InMemoryCache()})
            samplings = [Sampling(), Sampling(seed=1), Sampling(seed=2), Sampling(temperature=0.5, seed=1)]
            replies = [apply_sampling(model, sampling).invoke("Hi").text for sampling in samplings]
            again = [apply_sampling(model, sampling).invoke("Hi").text for sampling in samplings]

            assert len(set(replies)) == len(samplings)
            assert again == replies
