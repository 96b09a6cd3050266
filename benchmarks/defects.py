"""Measures the rules of defects on recorded runs whose truth is known, by rule and by source.

    EVALUATION_DATA=FOLDER uv run python -m benchmarks.defects

FOLDER has the runs of agent-claimcheck (``false-success``) and of tau-bench (``tau-bench``, ``tau-retail``).
A source that is absent is named and left out. The answers over invented worlds are in the repository, as are
five files of runs that were written without knowledge of the rules. A finding counts as right if the run is
known to have failed: a wrong reason in a failed run counts, too, so that the figures are upper bounds. Runs
that occur twice count once for the rules. Each third run of a file is counted once more: whoever changes a
rule does not read its texts.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from evaluation.recordings.default_contract import hold_own_audit
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import read_runs
from evaluation.runner import evaluate_many

TWICE = "the same without probes"
SOURCES = {
    "agent-claimcheck, train": "false-success/train.jsonl",
    TWICE: "false-success/train-without-probes.jsonl",
    "tau-bench airline": "tau-bench/gpt-4o-airline-tasks-00-24.json",
    "tau-bench retail": "tau-retail/tau-retail-even-tasks.json",
}
OWN = Path(__file__).parents[1] / "tests" / "evaluation" / "defects"
ANSWERS = OWN / "answers.jsonl"
NAMES = ("told and done", "offices", "operations", "services", "projects", "desks")
TOLD = {name: OWN / f"{name.replace(' ', '_')}.jsonl" for name in NAMES}
ABSTENTIONS = {"defects.no_calls", "defects.no_results", "defects.no_language"}
LEVELS = {"critical": "defect", "warning": "suspicion", "info": "note"}


def read_truths(path: Path) -> list[bool]:
    """Return whether each run of a file succeeded: its ``truth``, or the full reward."""
    text = path.read_text(encoding="utf-8")
    rows = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    return [row["truth"] if "truth" in row else row["reward"] == 1.0 for row in rows]


def read_answers() -> tuple[list[bool], list[dict[str, object]]]:
    """Return whether each answer over an invented tool world is right, and its case."""
    rows = [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
    runs = [
        {"input": row["task"], "final_output": row["answer"], "tool_calls": row["tool_calls"]} for row in rows
    ]
    return [row["right"] for row in rows], [{"agent_run": run} for run in runs]


def read_source(path: Path) -> tuple[list[bool], list[dict[str, object]]]:
    """Return the truth and the case of each run of a file."""
    return read_truths(path), [dict(run.case) for run in read_runs(path) if isinstance(run, RecordedRun)]


def measure(
    truths: Sequence[bool], cases: Iterable[dict[str, object]]
) -> Iterator[tuple[bool, str, set[tuple[str, str]]]]:
    """Yield the truth of each run, its status, and the rules that found something with their levels."""
    held = (hold_own_audit(case)[0] for case in cases)
    for is_true, report in zip(truths, evaluate_many(held), strict=True):
        found = [
            each
            for each in report.audit_findings
            if each["category"] == "defects" and each["id"] not in ABSTENTIONS
        ]
        rules = {(each["id"].removeprefix("defects."), LEVELS[each["severity"]]) for each in found}
        yield is_true, report.status, rules


def wilson_interval(successes: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a rate (Wilson, 1927); ``trials`` is at least 1."""
    rate, spread = successes / trials, z * z / trials
    half = z * ((rate * (1 - rate) + spread / 4) / trials) ** 0.5
    return (rate + spread / 2 - half) / (1 + spread), (rate + spread / 2 + half) / (1 + spread)


def describe_rules(counts: Counter[tuple[str, str, bool]]) -> Iterator[str]:
    """Yield a row of the table for each rule and level."""
    yield "| rule | level | right | of | precision, 95 % (Wilson) |"
    yield "|---|---|---|---|---|"
    for rule, level in sorted({key[:2] for key in counts}, key=lambda key: (key[1] != "defect", *key)):
        right, wrong = counts[rule, level, False], counts[rule, level, True]
        low, high = wilson_interval(right, right + wrong)
        yield f"| {rule} | {level} | {right} | {right + wrong} | {low:.2f} to {high:.2f} |"


def describe_source(name: str, rows: Sequence[tuple[bool, str, set[tuple[str, str]]]]) -> str:
    """Return a row of the table of sources."""
    cells, held_out = [], rows[2::3] if name in {**SOURCES, **TOLD} else ()
    for part, truth in product((rows, held_out), (True, False)):
        statuses = Counter(status for is_true, status, _ in part if is_true is truth)
        cells.append(f"{statuses['failed']} / {statuses['needs_review']} of {sum(statuses.values())}")
    return f"| {name} | {len(rows)} | {' | '.join(cells)} |"


def main(folder: Path) -> None:
    """Print the figures of each source, and of each rule over all of them."""
    counts: Counter[tuple[str, str, bool]] = Counter()
    told = {name: read_source(file) for name, file in TOLD.items()}
    sources = {"answers over invented tool worlds": read_answers(), **told}
    for name, file in SOURCES.items():
        if (folder / file).is_file():
            sources[name] = read_source(folder / file)
        else:
            print(f"left out: {name}, {folder / file} is no file", file=sys.stderr)
    print("| source | runs | successful: failed / needs_review | unsuccessful", end=" ")
    print("| held out: successful | unsuccessful |")
    print("|---|---|---|---|---|---|")
    for name, source in sources.items():
        rows = [*measure(*source)]
        print(describe_source(name, rows))
        if name != TWICE:
            counts.update((rule, level, is_true) for is_true, _, rules in rows for rule, level in rules)
    print()
    print("\n".join(describe_rules(counts)))


if __name__ == "__main__":
    if not os.environ.get("EVALUATION_DATA"):
        sys.exit("skipped: the recorded runs are not in the repository; set EVALUATION_DATA to their folder")
    main(Path(os.environ["EVALUATION_DATA"]))
