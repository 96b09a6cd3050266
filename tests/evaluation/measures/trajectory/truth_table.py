"""The truth table: its rows, our answers, what other kits were measured to answer, and the document of it."""

import json
from dataclasses import dataclass
from pathlib import Path

from evaluation.contract.contract import EvaluationContract, TrajectoryRules
from evaluation.measures.trajectory_matching import match_trajectory
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins

ROWS = Path(__file__).with_name("truth_table.jsonl")
PEERS = Path(__file__).with_name("truth_table_peers.json")
KITS = ("agentevals", "google-adk", "deepeval", "pydantic-evals", "ragas")
_LONG = 40
_HEAD = ["#", "case", "mode", "observed", "expected", "rules", "**passed**", "P", "R"]
_HEAD += [*KITS, "why others differ"]


@dataclass(frozen=True)
class Row:
    row: int
    group: str
    says: str
    mode: str
    actual: list
    expected: list
    passed: bool | None
    rules: dict
    why: dict

    @classmethod
    def read(cls, line):
        return cls(**{"rules": {}, "why": {}, **json.loads(line)})

    def match(self):
        """Our answer, from the case as a caller would hand it in."""
        state = prepare_evaluation(
            {
                "agent_run": {"final_output": "done", "tool_calls": self.actual},
                "expected_trajectory": self.expected,
                "trajectory_match_mode": self.mode,
                "trajectory": self.rules,
            },
            Plugins(),
        )
        assert state["errors"] == []
        return match_trajectory(
            state["actual_trajectory"],
            EvaluationContract(expected_trajectory=self.expected).expected_trajectory,
            self.mode,
            TrajectoryRules.model_validate(self.rules),
        )


def read_rows():
    return [Row.read(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]


def read_peers():
    """Read the measured answers: {"versions": {kit: version}, "answers": {row: {kit: answer}}}."""
    return json.loads(PEERS.read_text(encoding="utf-8"))


def read_verdict(answer):
    """Read a kit's answer as passed or not: a score passes when it is whole."""
    return answer == 1 if isinstance(answer, bool | int | float) else None


def format_tables():
    """Write all rows as Markdown, one table for each group."""
    measured = read_peers()
    versions = ", ".join(f"{kit} {version}" for kit, version in measured["versions"].items())
    groups = dict.fromkeys(row.group for row in read_rows())
    tables = [f"### {group}\n\n{_format_table(group, measured)}\n" for group in groups]
    return "\n".join([f"{len(read_rows())} rows. The other kits were measured with {versions}.\n", *tables])


def _format_table(group, measured):
    lines = [_format_line(_HEAD), _format_line(["---"] * len(_HEAD))]
    lines += [
        _format_line(_format_cells(row, measured["answers"].get(str(row.row), {})))
        for row in read_rows()
        if row.group == group
    ]
    return "\n".join(lines)


def _format_cells(row, answers):
    match = row.match()
    shares = [_format_share(value) for value in (match.shares["precision"], match.shares["recall"])]
    kits = [_format_answer(answers[kit]) if kit in answers else "" for kit in KITS]
    why = " ".join(f"{kit}: {reason}." for kit, reason in row.why.items())
    case = [
        str(row.row),
        row.says,
        row.mode,
        _format_calls(row.actual),
        _format_calls(row.expected),
        _format_rules(row.rules),
    ]
    return [*case, f"**{_format_answer(match.passed)}**", *shares, *kits, why]


def _format_answer(answer):
    if answer is None:
        return "undecided"
    if isinstance(answer, str):
        return answer
    score = "" if isinstance(answer, bool) or answer in {0, 1} else f" ({answer:.2f})"
    return ("yes" if answer == 1 else "no") + score


def _format_share(value):
    return "none" if value is None else f"{value:.2f}"


def _format_calls(calls):
    return ", ".join(_format_call(call) for call in calls) or "nothing"


def _format_call(call):
    if isinstance(call, str):
        return call
    name = call.get("name") or " or ".join(_format_call(alternative) for alternative in call["any_of"])
    args = call.get("args")
    shown = "" if args is None else f"({args if isinstance(args, str) else _format_args(args)})"
    rest = {key: value for key, value in call.items() if key not in {"name", "any_of", "args"}}
    return f"{name}{shown}{_format_rules(rest) and ' [' + _format_rules(rest) + ']'}"


def _format_args(args):
    return ", ".join(f"{name}: {_format_json(value)}" for name, value in args.items())


def _format_rules(rules):
    return ", ".join(f"{name}: {_format_json(value)}" for name, value in rules.items())


def _format_json(value):
    text = json.dumps(value)
    return text if len(text) <= 2 * _LONG else f"{text[:_LONG]}... ({len(text)} characters)"


def _format_line(cells):
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
