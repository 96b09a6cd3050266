"""The truth table: its rows, our answers, what other kits were measured to answer, and the document of it."""

import json
from dataclasses import dataclass
from pathlib import Path

from evaluation.inputs.rules import TrajectoryRules
from evaluation.metrics.trajectory import expected_step, match_trajectory, observed_action
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.plugins import Plugins

ROOT = Path(__file__).parents[4]
ROWS = Path(__file__).with_name("truth_table.jsonl")
PEERS = Path(__file__).with_name("truth_table_peers.json")
DOCUMENT = ROOT / "docs" / "reference" / "trajectory-matching.md"
KITS = ("agentevals", "google-adk", "deepeval", "pydantic-evals", "ragas")
BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"
_LONG = 40
_HEAD = ["#", "case", "mode", "observed", "expected", "rules", "**passed**", "P", "R", "alignment"]
_HEAD += [*KITS, "why others differ"]


def same_day(expected, observed):
    """Compare two times by their day: the function that some rows name."""
    return expected["at"][:10] == observed["at"][:10]


FUNCTIONS = {"same_day": same_day}


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
            [observed_action(action) for action in state["actual_trajectory"]],
            [expected_step(step) for step in state["expected_trajectory"]],
            self.mode,
            TrajectoryRules.model_validate(self.rules),
            FUNCTIONS,
        )


def rows():
    return [Row.read(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]


def peers():
    """What was measured: {"versions": {kit: version}, "answers": {row: {kit: answer}}}."""
    return json.loads(PEERS.read_text(encoding="utf-8"))


def verdict(answer):
    """Read a kit's answer as passed or not: a score passes when it is whole."""
    return answer == 1 if isinstance(answer, bool | int | float) else None


def document(text):
    """Put the generated part into the document's text."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{_generated()}\n{END}{after}"


def _generated():
    measured = peers()
    versions = ", ".join(f"{kit} {version}" for kit, version in measured["versions"].items())
    groups = dict.fromkeys(row.group for row in rows())
    tables = [f"### {group}\n\n{_table(group, measured)}\n" for group in groups]
    return "\n".join([f"{len(rows())} rows. The other kits were measured with {versions}.\n", *tables])


def _table(group, measured):
    lines = [_line(_HEAD), _line(["---"] * len(_HEAD))]
    lines += [
        _line(_cells(row, measured["answers"].get(str(row.row), {}))) for row in rows() if row.group == group
    ]
    return "\n".join(lines)


def _cells(row, answers):
    match = row.match()
    shares = [_share(value) for value in (match.precision, match.recall, match.alignment)]
    kits = [_answer(answers[kit]) if kit in answers else "" for kit in KITS]
    why = " ".join(f"{kit}: {reason}." for kit, reason in row.why.items())
    case = [str(row.row), row.says, row.mode, _calls(row.actual), _calls(row.expected), _rules(row.rules)]
    return [*case, f"**{_answer(match.passed)}**", *shares, *kits, why]


def _answer(answer):
    if answer is None:
        return "undecided"
    if isinstance(answer, str):
        return answer
    score = "" if isinstance(answer, bool) or answer in {0, 1} else f" ({answer:.2f})"
    return ("yes" if answer == 1 else "no") + score


def _share(value):
    return "none" if value is None else f"{value:.2f}"


def _calls(calls):
    return ", ".join(_call(call) for call in calls) or "nothing"


def _call(call):
    if isinstance(call, str):
        return call
    name = call.get("name") or " or ".join(_call(one) for one in call["any_of"])
    args = call.get("args")
    shown = "" if args is None else f"({args if isinstance(args, str) else _inner(args)})"
    rest = {key: value for key, value in call.items() if key not in {"name", "any_of", "args"}}
    return f"{name}{shown}{_rules(rest) and ' [' + _rules(rest) + ']'}"


def _inner(args):
    return ", ".join(f"{name}: {_json(value)}" for name, value in args.items())


def _rules(rules):
    return ", ".join(f"{name}: {_json(value)}" for name, value in rules.items())


def _json(value):
    text = json.dumps(value)
    return text if len(text) <= 2 * _LONG else f"{text[:_LONG]}... ({len(text)} characters)"


def _line(cells):
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
