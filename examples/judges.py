"""Judges: a chat model scores by a rubric, is asked several times, cached, and held against people."""

import json

from agents.testing import ScriptedChatModel
from evaluation import CachedJudge, JudgePanel, JudgeRequest, MemoryStore, Rubric, RubricJudge, calibrate


def reply(prompt):  # stands in for a model, so that this runs anywhere
    kind = "glad" in prompt[-1].text
    return json.dumps({"rationale": "Kind." if kind else "Curt.", "criteria": {"tone": 5 if kind else 2}})


llm = ScriptedChatModel(reply)  # for real: agents.load_model("ollama:qwen3"), or any LangChain chat model
judge = CachedJudge(JudgePanel([RubricJudge(llm)], samples=3), MemoryStore(), model="scripted, 3 samples")
rubric = Rubric.model_validate({"criteria": [{"name": "tone", "anchors": {"1": "rude", "5": "kind"}}]})

answers = {"I am glad to say that it arrives on Friday.": True, "Friday.": False}  # with people's labels
labelled = [(JudgeRequest(rubric, "Where is my order?", text), good) for text, good in answers.items()]
for _ in range(2):  # the second time from the cache
    measured = calibrate(judge, labelled).agreement
    print(f"accuracy {measured.accuracy.value}, kappa {measured.kappa}, model calls {len(llm.prompts)}")
