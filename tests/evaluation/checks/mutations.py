"""Outputs that just fulfil or just miss an instruction of IFEval, made from sentences with a seed."""

import json
import re

from tests.evaluation.checks.sentences import ENGLISH, OTHER


def make_text(rng, sentences=8):
    """Join sentences with the marks, contractions, numbers and abbreviations that outputs have."""
    paragraphs, text = [], []
    for sentence in rng.choices(ENGLISH, k=sentences):
        text.append(sentence)
        if rng.random() < 0.25:
            paragraphs.append(" ".join(text))
            text = []
    return "\n\n".join([*paragraphs, " ".join(text)] if text else paragraphs)


def make_outputs(name, arguments, rng):
    """Yield outputs around the limit of an instruction, and others."""
    make = _MAKERS.get(name, _make_plain)
    yield from make(arguments, rng)
    yield make_text(rng)


def _near(number, rng):
    return (max(number - 1, 0), number, number + 1, max(0, number - rng.randint(2, 4)))


def _make_plain(arguments, rng):
    yield make_text(rng, 1)


def _make_words(arguments, rng):
    words = make_text(rng, arguments["num_words"] // 4 + 5).split(" ")
    for number in _near(arguments["num_words"], rng):
        text = " ".join(words[: number + 2])
        # Cut by the official way to count, so that the limit is met exactly.
        while _count_runs(text) > number and " " in text:
            text = text.rpartition(" ")[0]
        yield text + " word" * (number - _count_runs(text))


def _count_runs(text):
    return len(re.findall(r"\w+", text))


def _make_sentences(arguments, rng):
    for number in _near(arguments["num_sentences"], rng):
        chosen = rng.choices(ENGLISH, k=number)
        joints = [rng.choice([" ", " ", " ", "\n", "\n\n"]) for _ in chosen]
        yield "".join(part for pair in zip(chosen, joints, strict=True) for part in pair).strip()
        if number:
            yield "## A heading\n\n" + "\n".join(f"- {sentence}" for sentence in chosen)


def _insert(pieces, rng, text=None):
    words = (text or make_text(rng, 6)).split(" ")
    for piece in pieces:
        words.insert(rng.randint(1, len(words)), piece)
    return " ".join(words)


def _make_keyword(arguments, rng):
    base = " ".join(word for word in make_text(rng).split(" ") if arguments["keyword"] not in word.lower())
    for number in _near(arguments["frequency"], rng):
        forms = [
            arguments["keyword"],
            arguments["keyword"].upper(),
            f"{arguments['keyword']},",
            f"({arguments['keyword']})",
        ]
        yield _insert(rng.choices(forms, k=number), rng, base)


def _make_letters(arguments, rng):
    base = "".join(c for c in make_text(rng) if c.lower() != arguments["letter"].lower())
    for number in _near(arguments["let_frequency"], rng):
        yield _insert([rng.choice([arguments["letter"], arguments["letter"].upper()])] * number, rng, base)


def _make_existence(arguments, rng):
    yield _insert(arguments["keywords"], rng)
    yield _insert([word.upper() for word in arguments["keywords"]], rng)
    yield _insert([f"{word}s," for word in arguments["keywords"]], rng)
    yield _insert(arguments["keywords"][1:], rng)


def _make_forbidden(arguments, rng):
    for word in arguments["forbidden_words"]:
        yield _insert([word], rng)
        yield _insert([f"{word.title()}."], rng)
        yield _insert([f"x{word}", f"{word}x"], rng)


def _make_bullets(arguments, rng):
    for number in _near(arguments["num_bullets"], rng):
        mark = rng.choice(["*", "-", "  *", "  -"])
        items = "\n".join(f"{mark} {rng.choice(ENGLISH)}" for _ in range(number))
        yield f"{make_text(rng, 2)}\n\n{items}\n\n{make_text(rng, 1)}"


def _make_json(arguments, rng):
    value = json.dumps(
        {"text": make_text(rng, 2), "items": [1, 2.5, None, True]}, indent=rng.choice([None, 2])
    )
    yield from (
        value,
        f"```json\n{value}\n```",
        f"```\n{value}\n```",
        value[:-1],
        f"Here: {value}",
        f"{value}\nDone.",
    )
    yield value.replace('"items"', "'items'")


def _make_end(arguments, rng):
    phrase = arguments["end_phrase"]
    for tail in ("", "\n", '"', " Bye", "\n\nMore."):
        yield f"{make_text(rng, 2)} {phrase}{tail}"
    yield f"{make_text(rng, 2)} {phrase.upper()}"
    yield f"{make_text(rng, 2)} {phrase[:-2]}"


def _make_upper(arguments, rng):
    yield from _make_case(rng, str.upper, " x")


def _make_lower(arguments, rng):
    yield from _make_case(rng, str.lower, " X")


def _make_case(rng, change, other):
    text = make_text(rng, 5)
    yield from (change(text), change(text) + other, text, change(" ".join(OTHER["de"])))
    yield change(text).replace(".", "!")


def _make_comma(arguments, rng):
    text = make_text(rng, 4).replace(",", "")
    yield from (text, f"{text} a, b", f"{text}，", text.replace(" ", ",", 1), f"{text};")


def _make_answer(arguments, rng):
    answers = [f"My answer is {word}" for word in ("yes.", "no.", "maybe.", "Yes")]
    for answer in (*answers, "Yes.", "my answer: no"):
        yield answer
        yield f"{make_text(rng, 1)} {answer}"


def _make_language(arguments, rng):
    for code in (arguments["language"], arguments["language"], *rng.sample(sorted(OTHER), 3)):
        sentences = OTHER.get(code, ENGLISH)
        yield " ".join(rng.choices(sentences, k=rng.randint(2, 6)))


_MAKERS = {
    "keywords:existence": _make_existence,
    "keywords:frequency": _make_keyword,
    "keywords:forbidden_words": _make_forbidden,
    "keywords:letter_frequency": _make_letters,
    "language:response_language": _make_language,
    "length_constraints:number_sentences": _make_sentences,
    "length_constraints:number_words": _make_words,
    "detectable_format:number_bullet_lists": _make_bullets,
    "detectable_format:constrained_response": _make_answer,
    "detectable_format:json_format": _make_json,
    "startend:end_checker": _make_end,
    "change_case:english_capital": _make_upper,
    "change_case:english_lowercase": _make_lower,
    "punctuation:no_comma": _make_comma,
}
