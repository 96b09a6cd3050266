"""Prompts of our own and a scripted model, for tests of the benchmark without weights and without data."""

from agents.testing import ScriptedChatModel
from benchmarks.effect.prompts import Prompt
from benchmarks.effect.records import Settings

PROMPTS = tuple(Prompt(key, f"Write word number {key}.", ()) for key in (1, 2, 3))
SETTINGS = Settings(
    split="tuning", prompts="abc", model="scripted", temperature=0.5, max_tokens=10, retries=3
)


def is_right(prompt: Prompt, output: str) -> bool:
    return output == f"word {prompt.key}"


def source(reply):
    """Return a source of models that answer by a function from the prompt's text to a reply."""
    return lambda _: ScriptedChatModel(lambda messages: reply(messages[-1].text), usage=(4, 6))


def model(*replies):
    return ScriptedChatModel(replies, usage=(4, 6))
