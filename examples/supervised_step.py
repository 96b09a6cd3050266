"""Supervise a step whose contract a program can check, with the embedded model.

The text must have 40 to 60 words, no comma, and a given last sentence. The checks decide, not the model's own
opinion. The example prints every attempt with its verdict, its feedback and the executor's self-assessment.
A model of this size seldom succeeds; a better one, as ``load_model("ollama:...")``, does.
"""

import textwrap

from agents import ExecutionAgent, MonitoringAgent, load_model
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator, RetryPolicy, StepRecord, SupervisionPolicy

STEP = (
    "Write about a walk on the beach in 40 to 60 words. Do not use any comma. "
    'End with this sentence: "The tide came in."'
)
CONTRACT = EvaluationContract.model_validate(
    {
        "output_length": {"min_words": 40, "max_words": 60},
        "forbidden_content": [{"text": ","}],
        "required_content": [{"pattern": r'The tide came in\.["\s]*$'}],
    }
)


class OneStep:
    """A planner that needs no model."""

    def generate_plan(self, task: str, /) -> list[str]:
        """Return the task as its only step."""
        return [task]


def print_attempt(record: StepRecord) -> None:
    """Print one attempt."""
    print(f"\nattempt {record['attempt']}: {record['status']}")
    print(textwrap.indent(textwrap.fill(record["result"], 90), "  | "))
    if record["verdict"]:
        print(record["verdict"]["feedback"])
    supervision = record["supervision"]
    if supervision and supervision["assessment"]:
        print("the executor says that it met its commitment:", supervision["assessment"]["met_commitment"])
    if supervision and supervision["verdict"]:
        verdict = supervision["verdict"]
        print("the supervisor decides:", verdict["verdict"], "-", verdict["reason"])


llm = load_model("local")
orchestrator = LangGraphOrchestrator(
    OneStep(),
    ExecutionAgent(llm),
    MonitoringAgent(llm),
    contract=CONTRACT,
    supervision="llm",
    supervision_policy=SupervisionPolicy(max_reorient_attempts=1),
    retry_policy=RetryPolicy(exhausted="accept_best"),
)
state = orchestrator.run(STEP)

for record in state["results"]:
    print_attempt(record)
print(f"\n{state['status']}: {state['failure'] or state['warnings'] or 'every check passed'}")
print("judge calls:", state["judge_calls"], "retries:", state["retries"])
