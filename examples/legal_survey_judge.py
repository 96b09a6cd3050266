"""Judge three questions of a legal survey by a rubric: a good, a biased and a vague one.

    python examples/legal_survey_judge.py
    python examples/legal_survey_judge.py --model ollama:qwen3      with a real model as the judge

The embedded model (``--model local``) is too small: it seldom answers all five criteria within its limit of
tokens. The report is then ``needs_review`` with the reason, never passed or failed.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from agents import load_model
from evaluation import EvaluationReport, JudgeRequest, evaluate
from evaluation.judges.judge_call import LEGAL_SURVEY
from evaluation.judges.model_judge import RubricJudge
from evaluation.testing import ScriptedJudge

TASK = "Write one question for a survey among lawyers about the use of generative AI in their practice."
QUESTIONS = {
    "good": (
        "In the last twelve months, has your firm filed a court document of which any part was drafted by a "
        "generative AI tool? Please choose one: yes, no, not sure."
    ),
    "biased": (
        "Surely you agree that careless firms which let machines write their pleadings betray their clients, "
        "and that the bar should finally punish them?"
    ),
    "vague": "What do you think about AI and the law and things like that in general?",
}

# Phrases of bad questions, with the feedback, by criterion.
SIGNS = {
    "clarity and precision": {
        "things like that": "says nothing",
        "in general": "leaves the period and place open",
    },
    "neutrality and bias": {
        "surely": "suggests the answer",
        "careless": "presumes guilt",
        "betray": "is loaded",
    },
    "relevance and focus": {"and that the bar": "asks a second question", "and the law": "is about anything"},
    "completeness": {"surely": "leaves no choice but to agree", "what do you think": "offers no choices"},
    "appropriateness for the audience": {"things like that": "is too loose for lawyers"},
}


def judge_by_wording(request: JudgeRequest) -> Mapping[str, object]:
    """Replace a model, so that the example runs anywhere: subtract two points for each of these phrases."""
    text = request.output.casefold()
    matches = {
        name: [f"'{phrase}' {feedback}" for phrase, feedback in signs.items() if phrase in text]
        for name, signs in SIGNS.items()
    }
    criteria = {name: max(1, 5 - 2 * len(signs)) for name, signs in matches.items()}
    concerns = [sign for signs in matches.values() for sign in signs]
    return {
        "score": sum(criteria.values()) / len(criteria),
        "rationale": f"{len(concerns)} phrases speak against the question.",
        "criteria": criteria,
        "detailed_feedback": [f"{name}: {'; '.join(signs) or 'fine'}" for name, signs in matches.items()],
        "concerns": concerns,
        "recommended_action": "Rewrite the question." if concerns else "Ask it as it is.",
    }


def print_report(name: str, report: EvaluationReport) -> None:
    print(f"{name}: {report.status}")
    result = report.judge.result
    if result is None or result["status"] == "error":
        print(f"  the judge gave no usable answer: {result and result['reason']}")
        return
    print(f"  score {result['score']:g} of 5, {result['pass_score']:g} pass: {result['rationale']}")
    for criterion, score in result["criteria"].items():
        print(f"  {score:g}  {criterion}")
    for concern in result["concerns"]:
        print(f"  concern: {concern}")
    print(f"  recommended: {result['recommended_action']}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Judge the questions of a legal survey by a rubric.")
    parser.add_argument("--model", help="the chat model that judges, such as ollama:qwen3")
    spec = parser.parse_args().model
    judge = RubricJudge(load_model(spec)) if spec else ScriptedJudge(judge_by_wording)
    for name, question in QUESTIONS.items():
        case: dict[str, object] = {
            "agent_run": {"input": TASK, "final_output": question},
            "rubric": LEGAL_SURVEY,
        }
        print_report(name, evaluate(case, judge=judge))


if __name__ == "__main__":
    main()
