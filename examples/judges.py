"""Judge answers by a rubric, and measure how often people find the judge wrong before it decides anything.

    python examples/judges.py
    python examples/judges.py ollama:qwen3        a real model as the judge

The script replaces a model with a poor ear.
"""

import json
import sys
from typing import Any

from langchain_core.messages import BaseMessage

from agents import load_model
from agents.testing import ScriptedChatModel
from evaluation import JudgeRequest, LabelledOutput, Rubric, RubricJudge, measure_judge

QUESTION = "Where is my order?"
LABELS = {  # whether people find the answer kind
    "I am glad to say that it arrives on Friday.": True,
    "Friday.": False,
    "It left our house on Monday and should be with you soon; sorry for the wait.": True,
    "Read the mail that we sent you!": False,
}
RUBRIC = Rubric.model_validate({"criteria": [{"name": "tone", "anchors": {"1": "rude", "5": "kind"}}]})


def score_tone(prompt: list[BaseMessage]) -> str:
    """Replace a model: score the tone by a few signs."""
    text = prompt[-1].text
    is_kind = any(sign in text for sign in ("glad", "sorry", "you!"))
    return json.dumps({"rationale": "Signs of a tone.", "criteria": {"tone": 5 if is_kind else 2}})


llm = load_model(sys.argv[1]) if sys.argv[1:] else ScriptedChatModel(score_tone)
judge = RubricJudge(llm)
labelled = [
    LabelledOutput(task=QUESTION, output=text, kind="right" if label else "plain")
    for text, label in LABELS.items()
]

for text, label in LABELS.items():
    answer: Any = judge.judge(JudgeRequest(RUBRIC, QUESTION, text))
    print(f"score {answer['score']}, people say {'kind' if label else 'not kind'}: {text}")
trust = measure_judge(judge, name="tone", outputs=labelled, rubric=RUBRIC)
print(f"false accepts {trust.false_accepts.value}, false rejects {trust.false_rejects.value}")
if interval := trust.false_accepts.interval:
    print(f"95 % interval of false accepts {interval.low:.2f} to {interval.high:.2f}")
if isinstance(llm, ScriptedChatModel):
    print(f"model calls: {len(llm.prompts)}")
