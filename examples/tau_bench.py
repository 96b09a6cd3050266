"""Recorded runs of a published agent, judged again from the record alone.

    python examples/tau_bench.py FILE

FILE is a list of runs as the benchmark tau-bench publishes them, for instance
historical_trajectories/gpt-4o-airline.json of https://github.com/sierra-research/tau-bench (MIT licence).
Each run becomes a case, each task a contract; printed are the agreement with the benchmark's own reward
and pass^k, the chance that k trials of a task all succeed.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from evaluation import evaluate_many, run_from_messages
from evaluation.statistics.agreement import agreement
from evaluation.statistics.pass_at_k import pass_hat_k

WRITES = [
    "book_reservation",
    "cancel_reservation",
    "update_reservation_flights",
    "update_reservation_passengers",
    "update_reservation_baggages",
    "send_certificate",
]


def contract(task):
    """What a run of this task has to do: change the same data, and say what the user wants to know."""
    expected = [
        {"name": one["name"], "args": one["kwargs"]} for one in task["actions"] if one["name"] in WRITES
    ]
    return {
        "expected_trajectory": expected,
        "trajectory_match_mode": "precision_recall",  # the same calls as often, in any order
        "trajectory": {
            "compared_tools": WRITES,  # a tool that only reads cannot be wrong
            "failed_calls": "ignore",  # a call that was refused changed nothing
            "arguments": {"match": "superset"},  # arguments beyond the expected ones are harmless
        },
        "required_content": [{"where": "assistant_messages", **spoken(one)} for one in task["outputs"]],
        "audit": {"credentials": "off", "personal_data": "off"},  # the benchmark's customers are invented
    }


def spoken(output):
    """Require a number by its value, however it is written, and anything else as a text."""
    try:
        return {"number": float(output)}
    except ValueError:
        return {"text": output}


def case(run):
    """Turn one published run into a case."""
    agent_run = run_from_messages(run["traj"], failed=lambda answer: answer.startswith("Error"))
    name = f"task {run['task_id']}, trial {run['trial']}"
    return {"case_id": name, "agent_run": agent_run, **contract(run["info"]["task"])}


def main(path):
    """Evaluate every run of a file and print how far the verdicts agree with the benchmark's."""
    runs = json.loads(Path(path).read_text(encoding="utf-8"))
    reports = list(evaluate_many(map(case, runs)))
    ours = [report.status in {"passed", "warning"} for report in reports]
    official = [run["reward"] == 1.0 for run in runs]

    found = agreement(zip(official, ours, strict=True))
    print(f"{len(runs)} runs, agreement with the official reward: {found.accuracy.value:.1%}")
    print(f"kappa {found.kappa:.3f}" if found.kappa is not None else found.reason)
    print("official  ours   runs")
    for label, counts in found.confusion.items():
        for other, count in counts.items():
            print(f"{label:<9} {other:<6} {count:>4}")

    for title, verdicts in (("official", official), ("ours", ours)):
        trials = defaultdict(list)
        for run, won in zip(runs, verdicts, strict=True):
            trials[str(run["task_id"])].append(won)
        rates = [pass_hat_k(trials, k) for k in range(1, 5)]
        print(
            f"{title:<9} "
            + "  ".join(f"pass^{rate.k} {rate.value:.4f}" for rate in rates if rate.value is not None)
        )

    differing = [one for one in zip(runs, reports, official, ours, strict=True) if one[2] != one[3]]
    print(f"{len(differing)} verdicts differ")
    for run, report, reward, _verdict in differing:
        end = f"{len(run['traj'])} messages, the last one from the {run['traj'][-1]['role']}"
        print(f"{report.case_id}: official {reward}, ours {report.status} ({report.summary[:200]}); {end}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        print(__doc__)
