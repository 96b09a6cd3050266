"""Prints the truth table of the trajectory modes, with the answers of other libraries.

    uv run python -m benchmarks.truth_table
    uv run --with agentevals --with google-adk --with deepeval --with pydantic-evals --with ragas \
        python -m benchmarks.truth_table --measure          asks those libraries first

A library that is not installed keeps the answers that were measured before. A row stays blank for a library
that lacks its mode or rule. An answer is true or false, a score from 0 to 1, or the name of the error that
the library raised.
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import PackageNotFoundError, version

from benchmarks.baselines.trajectory_libraries import ask_library
from tests.evaluation.measures.trajectory.truth_table import (
    KITS,
    PEERS,
    format_tables,
    read_peers,
    read_rows,
    read_verdict,
)


def measure_libraries() -> None:
    known = read_peers() if PEERS.exists() else {"versions": {}, "answers": {}}
    for kit in KITS:
        try:
            answers = {str(row.row): ask_library(kit, row) for row in read_rows()}
            known["versions"][kit] = version(kit)
        except (ImportError, PackageNotFoundError) as error:
            print(f"{kit}: unchanged ({error})")
            continue
        for row, answer in answers.items():
            known["answers"].setdefault(row, {}).pop(kit, None)
            if answer is not None:
                known["answers"][row][kit] = answer
    PEERS.write_text(format_answers(known), encoding="utf-8")


def format_answers(known: dict) -> str:
    """Write one line for each row, with the libraries in order, so that a diff shows what changed."""
    lines = [
        f"{json.dumps(row)}: {json.dumps({kit: answers[kit] for kit in KITS if kit in answers})}"
        for row, answers in sorted(known["answers"].items(), key=lambda item: int(item[0]))
        if any(row == str(each.row) for each in read_rows())
    ]
    body = ",\n".join(lines)
    return f'{{"versions": {json.dumps(known["versions"])},\n"answers": {{\n{body}\n}}}}\n'


def print_summary() -> None:
    """Print how often each library gives our verdict, and the rows that differ."""
    answers = read_peers()["answers"]
    for kit in KITS:
        answered = [
            (row, answers[str(row.row)][kit]) for row in read_rows() if kit in answers.get(str(row.row), {})
        ]
        other = [row for row, answer in answered if read_verdict(answer) is not row.passed]
        unexplained = [row.row for row in other if kit not in row.why]
        same = len(answered) - len(other)
        print(f"{kit}: {len(answered)} rows, {same} the same, others {[row.row for row in other]}")
        if unexplained:
            print(f"  without a reason: {unexplained}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true", help="ask the libraries that are installed")
    if parser.parse_args().measure:
        measure_libraries()
    print_summary()
    print(format_tables())


if __name__ == "__main__":
    main()
