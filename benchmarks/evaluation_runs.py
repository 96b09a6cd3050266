"""Makes the synthetic runs that ``evaluation_speed`` evaluates, the same for the same seed.

Six tool calls with nested arguments, an output and a reference of 40 words, an expected trajectory and
thresholds. One run in four has one argument changed, so that its trajectory does not agree.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Final

Json = dict[str, object]

SEED: Final = 20_240_607
REPEATED: Final = 500
"""How many runs the peers and the matching go through again and again."""
MAX_NEW: Final = 5_000
"""Most new runs of one sample; a longer sample repeats them."""
CALLS: Final = 6
WORDS: Final = 40
CHANGED_WORDS: Final = 9

_TOOLS: Final = (
    "get_order",
    "find_user",
    "list_flights",
    "update_booking",
    "refund_payment",
    "send_receipt",
    "search_catalog",
    "check_stock",
)
_VOCABULARY: Final = """
the order for your trip was changed as you asked and we have sent a new receipt to address on file flight
leaves at noon from gate seven with one bag included refund of fare will arrive within five days please reply
if anything else should be checked before departure seat near window is confirmed now
"""


@dataclass(frozen=True)
class Run:
    """One case, and whether its trajectory agrees with the expected one."""

    case: Json
    calls: list[Json]
    expected: list[Json]
    output: str
    reference: str
    agrees: bool


@cache
def repeated_runs() -> list[Run]:
    return list(islice(make_runs(SEED), REPEATED))


def new_runs(count: int) -> list[Run]:
    """Take runs that were not evaluated before, so that caches of known texts do not help."""
    return list(islice(_NEW_RUNS, min(count, MAX_NEW)))


def make_runs(seed: int) -> Iterator[Run]:
    """Yield new runs without end."""
    source = random.Random(seed)
    index = 0
    while True:
        yield _make_run(index, source)
        index += 1


_NEW_RUNS: Final = make_runs(SEED + 1)


def _make_run(index: int, source: random.Random) -> Run:
    # Each side is parsed from JSON on its own: nothing is equal because it is the same object.
    text = json.dumps([_make_call(source) for _ in range(CALLS)])
    expected, calls = json.loads(text), json.loads(text)
    agrees = index % 4 != 3
    if not agrees:
        calls[source.randrange(CALLS)]["args"]["address"]["city"] = "Turin"
    vocabulary = _VOCABULARY.split()
    words = [source.choice(vocabulary) for _ in range(WORDS)]
    reference = " ".join(words)
    for place in source.sample(range(WORDS), CHANGED_WORDS):
        words[place] = source.choice(vocabulary)
    output = " ".join(words)
    case = {
        "input": "change of an order",
        "case_id": f"case-{index}",
        "agent_run": _record_run(source, calls, output),
        "reference_output": reference,
        "expected_trajectory": expected,
        "thresholds": {
            "rouge_1": 0.4,
            "latency_ms": 1500,
            "total_tokens": 1200,
            "cost_usd": {"max": 0.05, "severity": "warning"},
            "trajectory_recall": 0.5,
        },
    }
    return Run(case, calls, expected, output, reference, agrees)


def _make_call(source: random.Random) -> Json:
    return {
        "name": source.choice(_TOOLS),
        "args": {
            "order_id": f"W{source.randrange(10**7):07d}",
            "items": [{"sku": f"{source.randrange(10**5):05d}", "quantity": source.randrange(1, 9)}],
            "gift": source.random() < 0.5,
            "address": {
                "city": source.choice(("Oslo", "Lyon", "Graz")),
                "location": {"lat": _make_degrees(source), "lon": _make_degrees(source)},
            },
        },
    }


def _make_degrees(source: random.Random) -> float:
    return round(source.uniform(0, 60), 4)


def _record_run(source: random.Random, calls: list[Json], output: str) -> Json:
    return {
        "input": "Please change my order and send me the receipt.",
        "final_output": output,
        "tool_calls": calls,
        "latency_ms": 800.0 + source.random() * 400,
        "input_tokens": source.randrange(200, 900),
        "output_tokens": source.randrange(40, 90),
        "cost_usd": 0.01,
    }


def plain_case(run: Run) -> Json:
    return run.case


def trajectory_case(run: Run) -> Json:
    """Ask for the trajectory alone."""
    return {name: run.case[name] for name in ("input", "case_id", "agent_run", "expected_trajectory")}


def rich_case(run: Run) -> Json:
    """Add content rules, a plan, tool results and a baseline."""
    calls = [{**call, "result": {"status": "ok", "total": 12.5}, "latency_ms": 40.0} for call in run.calls]
    plan = [call["name"] for call in run.expected]
    return {
        **run.case,
        "agent_run": {**run.case["agent_run"], "tool_calls": calls, "plan": plan},
        "run_metadata": {"model": "synthetic", "prompt_version": "v3", "environment": "benchmark"},
        "keywords": ["order", "receipt", "trip"],
        "forbidden_content": [{"text": "I am not able"}, {"pattern": r"(?i)error \d{3}"}],
        "checks": [{"check": "word_count", "min": 5, "max": 200}],
        "trajectory": {"forbidden_tools": ["delete_account"]},
        "baseline_metrics": {"latency_ms": 1000.0, "total_tokens": 700, "rouge_1": 0.7},
    }


def personal_case(run: Run) -> Json:
    """Add personal data, which must be removed from the report."""
    task = f"I am jane.{run.case['case_id']}@example.org, +1 415 555 2671. Please change my order."
    return {
        **run.case,
        "agent_run": {**run.case["agent_run"], "input": task},
        "audit": {"personal_data": "info"},
    }
