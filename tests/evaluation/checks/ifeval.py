"""IFEval's official checkers, and its arguments as checks of the vocabulary."""

import importlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

DATA = Path(os.environ.get("EVALUATION_DATA", Path(__file__).parents[4] / "shared" / "data"))
PROMPTS = DATA / "ifeval" / "prompts-300.jsonl"
_ABBREVIATIONS = frozenset(
    ["dr", "mr", "mrs", "ms", "prof", "st", "jr", "sr", "inc", "vs", "etc", "e.g", "i.e", "u.s", "p.m", "a.m"]
)
_ANSWERS = ["My answer is yes.", "My answer is no.", "My answer is maybe."]


# Cached, because no spec is found once ``load_official`` has put its own module in the place of the package.
@cache
def find_official():
    # A group of its own, because it brings libraries for data sets of 250 MB.
    spec = importlib.util.find_spec("if_verifiable")
    if spec is None:
        pytest.skip("needs the package if-verifiable: uv run --group ifeval pytest")
    return Path(spec.origin).parent


@cache
def load_official():
    """Load the registry of official checkers, with a tokenizer that needs no data.

    The official tokenizer of sentences reads a trained file from the network; this one is the same algorithm
    with a list of abbreviations instead.
    """
    folder = find_official()
    # Not the package itself: it imports libraries for data sets, which take half a minute.
    package = ModuleType("if_verifiable")
    package.__path__ = [str(folder)]
    sys.modules.setdefault("if_verifiable", package)
    registry = importlib.import_module("if_verifiable.ifeval.instructions_registry")
    util = importlib.import_module("if_verifiable.ifeval.instructions_util")
    _replace_tokenizers(util)
    return registry.INSTRUCTION_DICT


def _replace_tokenizers(util):
    importlib.import_module("langdetect").DetectorFactory.seed = 0
    punkt = importlib.import_module("nltk.tokenize.punkt")
    parameters = punkt.PunktParameters()
    parameters.abbrev_types = _ABBREVIATIONS
    sentences = punkt.PunktSentenceTokenizer(parameters)
    words = importlib.import_module("nltk.tokenize").NLTKWordTokenizer()
    util._get_sentence_tokenizer = lambda: sentences
    util.nltk.word_tokenize = lambda text: [
        word for sentence in sentences.tokenize(text) for word in words.tokenize(sentence)
    ]


def check_officially(registry, name, arguments, output):
    checker = registry[name](name)
    checker.build_description(**{key: value for key, value in arguments.items() if value is not None})
    return bool(output.strip()) and checker.check_following(output)


def to_checks(name, arguments):
    """Return plain data for the checks that say the same as an official instruction."""
    return TO_CHECKS[name](arguments) if name in TO_CHECKS else []


def _bound(arguments, relation, number):
    number = arguments[number]
    return {"min": number} if arguments[relation] == "at least" else {"max": number - 1}


def _occur(text, bound):
    return [{"check": "occurrences", "text": text, "whole_words": False, **bound}]


_ENGLISH = {"check": "language", "code": "en"}
TO_CHECKS = {
    "keywords:existence": lambda a: [{"check": "contains", "texts": a["keywords"], "whole_words": False}],
    "keywords:frequency": lambda a: _occur(a["keyword"], _bound(a, "relation", "frequency")),
    "keywords:forbidden_words": lambda a: [{"check": "excludes", "texts": a["forbidden_words"]}],
    "keywords:letter_frequency": lambda a: _occur(a["letter"], _bound(a, "let_relation", "let_frequency")),
    "language:response_language": lambda a: [{"check": "language", "code": a["language"]}],
    "length_constraints:number_sentences": lambda a: [
        {"check": "sentence_count", **_bound(a, "relation", "num_sentences")}
    ],
    "length_constraints:number_words": lambda a: [
        {"check": "word_count", **_bound(a, "relation", "num_words")}
    ],
    "detectable_format:number_bullet_lists": lambda a: [
        {"check": "list_item_count", "marker": "bullet", "exactly": a["num_bullets"]}
    ],
    "detectable_format:constrained_response": lambda a: [{"check": "one_of", "options": _ANSWERS}],
    "detectable_format:json_format": lambda a: [{"check": "json"}],
    "startend:end_checker": lambda a: [{"check": "ends_with", "text": a["end_phrase"]}],
    "change_case:english_capital": lambda a: [{"check": "letter_case", "style": "upper"}, _ENGLISH],
    "change_case:english_lowercase": lambda a: [{"check": "letter_case", "style": "lower"}, _ENGLISH],
    "punctuation:no_comma": lambda a: [{"check": "excludes", "texts": [","]}],
}
