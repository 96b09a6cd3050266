"""Changed facts in real answers: none may pass, and a new layout of the same answer must."""

import json
import os
import random
import re
from datetime import date
from pathlib import Path

import pytest

from evaluation import evaluate
from evaluation.testing import DeterministicJudge

DATA = Path(os.environ.get("EVALUATION_DATA", Path(__file__).parents[4] / "shared" / "data"))
RUNS = DATA / "tau-bench" / "gpt-4o-airline-tasks-00-24.json"
SETTLED = {"rouge_1": 0.3}
SAMPLES = [100, pytest.param(400, marks=pytest.mark.soak)]
pytestmark = pytest.mark.skipif(
    not RUNS.is_file(), reason="needs the public runs of tau-bench in $EVALUATION_DATA/tau-bench"
)
MONTHS = [date(2024, month, 1).strftime("%B") for month in range(1, 13)]


def read_answers():
    runs = json.loads(RUNS.read_text(encoding="utf-8"))
    messages = (message for run in runs for message in run["traj"] if message["role"] == "assistant")
    return sorted({message["content"] for message in messages if message.get("content")})


def change_number(text, choose):
    places = list(re.finditer(r"\d+", text))
    if not places:
        return None
    place = choose.choice(places)
    return f"{text[: place.start()]}{int(place[0]) + choose.randint(1, 9)}{text[place.end() :]}"


def insert_not(text, choose):
    words = text.split(" ")
    words.insert(choose.randrange(1, len(words) + 1), "not")
    return " ".join(words)


def swap_date(text, choose):
    places = list(re.finditer(r"\b(" + "|".join(MONTHS) + r") (\d{1,2})\b|\b\d{4}-(\d\d)-(\d\d)\b", text))
    if not places:
        return None
    place = choose.choice(places)
    written = place[0]
    other = f"{choose.choice([m for m in MONTHS if m != place[1]])} {place[2]}" if place[1] else "2023-01-31"
    return None if other == written else f"{text[: place.start()]}{other}{text[place.end() :]}"


def change_identifier(text, choose):
    places = list(re.finditer(r"\b(?=\w*[A-Z])(?=\w*\d)[A-Z0-9]{5,}\b|\b\w+_\d+\b|\b[A-Z]{3}\b", text))
    if not places:
        return None
    place = choose.choice(places)
    at = choose.randrange(place.start(), place.end())
    other = choose.choice([char for char in "ABCDEFGHKLMNPRSTUVWXYZ" if char != text[at].upper()])
    return f"{text[:at]}{other}{text[at + 1 :]}"


def write_thousands(text):
    return re.sub(r"(?<![\w.,#-])(\d{4,})(?![\w.,-])", lambda match: f"{int(match[1]):,}", text)


CHANGES = [change_number, insert_not, swap_date, change_identifier]
LAYOUTS = [
    str.upper,
    str.lower,
    lambda text: "  ".join(text.split()),
    lambda text: f"{text.rstrip('.!?')} !",
    lambda text: text.replace("\n", "\n\n"),
    lambda text: text.replace("'", "\u2019"),
    lambda text: text.replace(",", " ,") if not re.search(r"\d,\d", text) else text,
    write_thousands,
]


def judge(output, reference, **options):
    case = {"agent_run": {"final_output": output}, "reference_output": reference}
    return evaluate({**case, **options.pop("contract", {})}, **options)


@pytest.mark.parametrize("most", SAMPLES)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_no_answer_with_a_changed_fact_passes(change, most):
    choose = random.Random(7)
    changed = [(text, other) for text in read_answers() if (other := change(text, choose)) is not None]

    pairs = changed[:most]
    reports = [judge(other, text, contract={"thresholds": SETTLED}) for text, other in pairs]

    assert len(pairs) >= 100
    assert [pair for pair, report in zip(pairs, reports, strict=True) if report.status == "passed"] == []


@pytest.mark.parametrize("most", SAMPLES)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_no_judge_lets_a_changed_fact_pass(change, most):
    choose = random.Random(11)
    texts = read_answers()[: most // 2]
    changed = [(text, other) for text in texts if (other := change(text, choose)) is not None]

    reports = [judge(other, text, judge=DeterministicJudge(5)) for text, other in changed]

    assert {report.status for report in reports} == {"needs_review"}


@pytest.mark.parametrize("most", SAMPLES)
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_another_layout_of_an_answer_passes(number, most):
    texts = random.Random(3).sample(read_answers(), most)

    refused = [
        (report.summary, text)
        for text in texts
        if (report := judge(LAYOUTS[number](text), text, contract={"thresholds": SETTLED})).status != "passed"
    ]

    assert refused == []
