"""Compares ways to ask a model for a verdict, on the labelled set that the package ships.

    uv run python -m benchmarks.judges --arm yes_no --arm swapped
    uv run python -m benchmarks.judges --report
    uv run python -m benchmarks.judges --arm monitor --held-out

The tuning half is used unless ``--held-out`` is given. Each answer is a line of the file ``--out``, and an
answer that it has is not asked for again. An arm that gives a probability is reported twice: with the limit
0.5, and with the lowest limit at which at most a tenth of the tuning half's wrong outputs are accepted.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from agents import load_model
from agents.models.identity import identify_model
from benchmarks.judge_arms import ARMS, COMBINED, LIMITS
from evaluation.judges.figures import (
    LabelledOutput,
    Verdict,
    compute_trust,
    get_set_version,
    load_labelled_set,
)
from evaluation.statistics import Proportion

SEED = 20250101
ALLOWED = 0.1
"""Share of the wrong outputs of the tuning half that a calibrated limit may accept."""

Row = dict[str, Any]


def measure(arms: Sequence[str], outputs: Sequence[LabelledOutput], spec: str, out: Path) -> None:
    """Asks for what the file does not have, and adds each answer to it at once."""
    llm = load_model(spec, seed=SEED)
    fixed = {"model": identify_model(llm), "set": get_set_version(), "seed": SEED}
    known = {(row["arm"], row["id"]) for row in read_rows(out) if fixed.items() <= row.items()}
    with out.open("a", encoding="utf-8") as file:
        # The arms of one output follow each other: a server that keeps the last prompt reads its start once.
        for arm, output in ((arm, output) for output in outputs for arm in arms):
            if (arm, output.id) in known:
                continue
            start = time.perf_counter()
            answer = ARMS[arm](llm, output)
            seconds = round(time.perf_counter() - start, 3)
            row = {**fixed, "arm": arm, "id": output.id, **asdict(answer), "seconds": seconds}
            file.write(f"{json.dumps(row)}\n")
            file.flush()
            print(f"\r{arm} {output.id}   ", end="", file=sys.stderr, flush=True)


def read_rows(out: Path) -> list[Row]:
    if not out.exists():
        return []
    lines = out.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]  # the last one may be cut off


def report(rows: Sequence[Row], half: str) -> None:
    print(f"{half}; intervals of 95 %\n")
    print("| arm | limit | false accepts | false rejects | no verdict | AUC | calls | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for arm, scored in list_arms(rows).items():
        shown = [(output, row) for output, row in scored if output.half == half]
        tuning = [(output, row) for output, row in scored if output.half == "tuning"]
        for limit in dict.fromkeys([LIMITS.get(arm, 0.5), *find_limit(arm, tuning)]) if shown else ():
            print(format_row(arm, limit, shown))


Scored = list[tuple[LabelledOutput, Row]]


def list_arms(rows: Sequence[Row]) -> dict[str, Scored]:
    """Lists the answers of each arm, the combined ones included if the file has their parts."""
    outputs = load_labelled_set()
    known = {(row["arm"], row["id"]): row for row in rows if row["set"] == get_set_version()}
    sums = {**{arm: ((arm, 1.0),) for arm in ARMS}, **COMBINED}
    return {
        name: [
            (output, combine([(known[arm, output.id], weight) for arm, weight in parts]))
            for output in outputs
            if all((arm, output.id) in known for arm, _ in parts)
        ]
        for name, parts in sums.items()
    }


def combine(parts: Sequence[tuple[Row, float]]) -> Row:
    """Adds the weighted log odds of several answers; a single answer stays as it is."""
    costs = {name: sum(row[name] for row, _ in parts) for name in ("calls", "seconds")}
    scores = [row["score"] for row, _ in parts]
    if len(parts) == 1 or None in scores:
        return {**costs, "score": scores[0] if len(parts) == 1 else None}
    bounded = [(min(max(row["score"], 1e-9), 1 - 1e-9), weight) for row, weight in parts]
    odds = sum(weight * math.log(score / (1 - score)) for score, weight in bounded)
    return {**costs, "score": 1 / (1 + math.exp(-odds))}


def find_limit(arm: str, tuning: Scored) -> Iterator[float]:
    """Finds the lowest limit that accepts at most the allowed share of the tuning half's wrong outputs."""
    wrong = sorted((row["score"] or 0.0 for output, row in tuning if output.kind != "right"), reverse=True)
    if wrong and arm != "monitor":
        yield math.nextafter(wrong[int(ALLOWED * len(wrong))], 2.0)


def format_row(arm: str, limit: float, scored: Scored) -> str:
    trust = compute_trust(arm, [(output.kind, decide(row["score"], limit)) for output, row in scored])
    calls, seconds = (fmean(row[name] for _, row in scored) for name in ("calls", "seconds"))
    rates = f"{format_rate(trust.false_accepts)} | {format_rate(trust.false_rejects)} | {trust.needs_review}"
    return f"| {arm} | {limit:.3f} | {rates} | {format_area(scored)} | {calls:.1f} | {seconds:.1f} |"


def decide(score: float | None, limit: float) -> Verdict:
    return "needs_review" if score is None else "accepted" if score >= limit else "refused"


def format_rate(rate: Proportion) -> str:
    if rate.value is None or rate.interval is None:
        return "none"
    interval = f"{rate.interval.low:.2f} to {rate.interval.high:.2f}"
    return f"{rate.successes}/{rate.trials} = {rate.value:.2f} ({interval})"


def format_area(scored: Scored) -> str:
    """Formats how often a right output has a higher score than a wrong one; 0.5 is chance.

    Source of the interval: Hanley and McNeil (1982), The meaning and use of the area under a receiver
    operating characteristic curve, Radiology 143.
    """
    right = [row["score"] or 0.0 for output, row in scored if output.kind == "right"]
    wrong = [row["score"] or 0.0 for output, row in scored if output.kind != "right"]
    if not right or not wrong:
        return "none"
    area = fmean((a > b) + (a == b) / 2 for a in right for b in wrong)
    spread = area * (1 - area)
    spread += (len(right) - 1) * (area / (2 - area) - area**2)
    spread += (len(wrong) - 1) * (2 * area**2 / (1 + area) - area**2)
    half = 1.96 * math.sqrt(spread / (len(right) * len(wrong)))
    return f"{area:.2f} ({max(area - half, 0.0):.2f} to {min(area + half, 1.0):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", action="append", choices=ARMS, default=[])
    parser.add_argument("--model", default="local")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=Path, default=Path("judges.jsonl"))
    parser.add_argument("--report", action="store_true", help="only report what the file has")
    options = parser.parse_args()
    half = "held_out" if options.held_out else "tuning"
    outputs = [output for output in load_labelled_set() if output.half == half][: options.limit]
    if not options.report:
        measure(options.arm or list(ARMS), outputs, options.model, options.out)
    report(read_rows(options.out), half)


if __name__ == "__main__":
    main()
