"""Results of evaluations, as the tests of pages need them."""

from evaluation import evaluate
from evaluation.cases.case_result import CaseResult, describe_run


def stored(name="case", status="passed", **fields):
    """A result without a run."""
    accepted = status == "passed"
    parts = {"basis": "checked" if accepted else "unverified", "accepted": accepted, **fields}
    return CaseResult(name=name, status=status, **parts)


def evaluate_result(case, *, name="case", basis=None, **fields):
    report = evaluate(case)
    accepted = report.status in {"passed", "warning"}
    parts = {
        "basis": basis or ("checked" if accepted else "unverified"),
        "reasons": tuple(report.failures),
        "report": report.model_dump(mode="json"),
        **describe_run(case),
        **fields,
    }
    return CaseResult(name=name, status=report.status, accepted=accepted, **parts)


def notice(output="Open on Tuesday and Saturday.", branch="north", **run):
    call = {"name": "look_up_hours", "args": {"branch": branch, "week": 12}, "result": {"open": ["Saturday"]}}
    messages = [{"role": "user", "content": "When is it open?"}, {"role": "assistant", "content": output}]
    return {
        "agent_run": {
            "input": "Announce the opening days, in at most 8 words.",
            "final_output": output,
            "tool_calls": [{"name": "list_branches", "args": {}}, call],
            **({"messages": messages, "tool_calls": []} if run.pop("as_messages", False) else {}),
            **run,
        },
        "checks": [{"check": "word_count", "max": 8, "quote": "at most 8 words"}],
        "required_content": [{"text": "Saturday"}],
        "expected_trajectory": [{"name": "look_up_hours", "args": {"branch": "north", "week": 12}}],
        "trajectory_match_mode": "in_order",
    }


def compared_results(cases=3, trials=2):
    """Results of two models; the second one fails each third case, and the first trial of case 1."""
    return [
        evaluate_result(
            notice(branch="north" if is_good(arm, case, trial) else "main", latency_ms=900 + 600 * len(arm)),
            name=f"notice {case}",
            arm=arm,
            trial=trial,
        )
        for case in range(cases)
        for arm in ("local", "qwen3")
        for trial in range(trials)
    ]


def is_good(arm, case, trial):
    return arm == "local" or (case % 3 != 0 and (case, trial) != (1, 0))
