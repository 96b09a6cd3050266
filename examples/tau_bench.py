"""Evaluate the published runs of tau-bench from the record alone, and compare with the official reward.

    python examples/tau_bench.py FILE [CASES]

FILE is a list of runs as tau-bench publishes them, for instance
historical_trajectories/gpt-4o-airline.json of https://github.com/sierra-research/tau-bench (MIT licence).
Each run becomes a case, each task a contract. The example prints the agreement with the benchmark's own
reward and pass^k, the chance that k trials of a task all succeed. With CASES, it writes the contracts to this
new file instead, for `orchestrator evaluate FILE --contract CASES`, which prints the same rates.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from evaluation import EvaluationContract, TaskCase, evaluate_many, run_from_messages, write_case_set
from evaluation.statistics import pass_hat_k

WRITES = [  # of the domains airline and retail
    "book_reservation",
    "cancel_reservation",
    "update_reservation_flights",
    "update_reservation_passengers",
    "update_reservation_baggages",
    "send_certificate",
    "cancel_pending_order",
    "exchange_delivered_order_items",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "modify_user_address",
    "return_delivered_order_items",
]


def make_case(run: dict[str, Any]) -> dict[str, object]:
    """Make a case of one published run."""
    return {
        "case_id": f"task {run['task_id']}, trial {run['trial']}",
        "agent_run": run_from_messages(run["traj"], failed=lambda answer: answer.startswith("Error")),
        **make_contract(run["info"]["task"]),
    }


def make_contract(task: dict[str, Any]) -> dict[str, object]:
    """Require the same changes of data, and the answers that the user asked for."""
    writes = [action for action in task["actions"] if action["name"] in WRITES]
    return {
        "expected_trajectory": [{"name": action["name"], "args": action["kwargs"]} for action in writes],
        "trajectory_match_mode": "precision_recall",  # the same calls, equally often, in any order
        "trajectory": {
            "acting_tools": WRITES,  # what only reads cannot be wrong, and a refused call changes nothing
            "final_tools": ["transfer_to_human_agents"],  # a run may end with it, without a reply
            "arguments": {"match": "superset"},  # arguments beyond the expected ones are harmless
        },
        "required_content": [{"where": "assistant_messages", **make_rule(text)} for text in task["outputs"]],
        "audit": {"credentials": "off", "personal_data": "off"},  # the benchmark's customers are invented
    }


def make_rule(output: str) -> dict[str, object]:
    """Require a number by its value, in any notation, and anything else as a text."""
    try:
        return {"number": float(output)}
    except ValueError:
        return {"text": output}


def write_cases(path: str, cases: str) -> None:
    """Write the contract of each task of a file of runs."""
    runs = json.loads(Path(path).read_text(encoding="utf-8"))
    tasks = {f"task {run['task_id']}": run["info"]["task"] for run in runs}
    contracts = {name: EvaluationContract.model_validate(make_contract(task)) for name, task in tasks.items()}
    write_case_set(
        cases,
        [
            TaskCase(name=name, task=tasks[name]["instruction"], contract=contract)
            for name, contract in contracts.items()
        ],
    )


def main(path: str) -> None:
    """Evaluate every run of a file and print the agreement of the verdicts with the benchmark's."""
    runs = json.loads(Path(path).read_text(encoding="utf-8"))
    reports = list(evaluate_many(map(make_case, runs)))
    ours = [report.status in {"passed", "warning"} for report in reports]
    official = [run["reward"] == 1.0 for run in runs]

    pairs = Counter(zip(official, ours, strict=True))
    equal = pairs[True, True] + pairs[False, False]
    print(f"{len(runs)} runs, agreement with the official reward: {equal / len(runs):.1%}")
    print("official  ours   runs")
    for (label, other), count in sorted(pairs.items()):
        print(f"{label!s:<9} {other!s:<6} {count:>4}")

    for title, verdicts in (("official", official), ("ours", ours)):
        trials: defaultdict[str, list[bool]] = defaultdict(list)
        for run, won in zip(runs, verdicts, strict=True):
            trials[str(run["task_id"])].append(won)
        rates = {k: pass_hat_k(trials, k).value for k in range(1, 5)}
        columns = [f"pass^{k} {rate:.4f}" for k, rate in rates.items() if rate is not None]
        print(f"{title:<9} {'  '.join(columns)}")

    compared = zip(runs, reports, official, ours, strict=True)
    differing = [(run, report, reward) for run, report, reward, verdict in compared if reward != verdict]
    print(f"{len(differing)} verdicts differ")
    for run, report, reward in differing:
        end = f"{len(run['traj'])} messages, the last one from the {run['traj'][-1]['role']}"
        print(f"{report.case_id}: official {reward}, ours {report.status} ({report.summary[:200]}); {end}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    elif len(sys.argv) == 3:
        write_cases(*sys.argv[1:])
    else:
        print(__doc__)
