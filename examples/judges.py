"""Judge answers by a rubric: a panel of three samples, a cache, and the agreement with people's labels."""

import json

from agents.testing import ScriptedChatModel
from evaluation import CachedJudge, JudgePanel, JudgeRequest, MemoryStore, Rubric, RubricJudge, calibrate


def score_tone(prompt):  # replaces a model, so that the example runs anywhere
    is_kind = "glad" in prompt[-1].text
    rationale = "Kind." if is_kind else "Curt."
    return json.dumps({"rationale": rationale, "criteria": {"tone": 5 if is_kind else 2}})


llm = ScriptedChatModel(score_tone)  # or load_model("ollama:qwen3"), or any LangChain chat model
judge = CachedJudge(JudgePanel([RubricJudge(llm)], samples=3), MemoryStore(), model="scripted, 3 samples")
rubric = Rubric.model_validate({"criteria": [{"name": "tone", "anchors": {"1": "rude", "5": "kind"}}]})

labels = {"I am glad to say that it arrives on Friday.": True, "Friday.": False}  # by people
labelled = [(JudgeRequest(rubric, "Where is my order?", text), label) for text, label in labels.items()]
for _ in range(2):  # the second time, the cache answers
    agreement = calibrate(judge, labelled).agreement
    print(f"accuracy {agreement.accuracy.value}, kappa {agreement.kappa}, model calls {len(llm.prompts)}")
