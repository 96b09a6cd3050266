"""Run a task from end to end with a model that Ollama serves.

    ollama serve                                    in another terminal
    ollama pull qwen3
    python examples/ollama_run.py                   the first model that is installed
    python examples/ollama_run.py qwen3

OLLAMA_HOST names another host. Without a server, the example prints what to do.
"""

import sys

import ollama

from agents import load_model
from orchestrator import LangGraphOrchestrator
from orchestrator.events import RunFinished, StepExecuted, StepJudged, StepRetried

TASK = "Explain what a checksum is in two sentences, and mention the word error."


def list_models() -> list[str]:
    """Return the names of the installed models."""
    try:
        return [model.model for model in ollama.list().models if model.model]
    except (ConnectionError, ollama.ResponseError) as error:
        print(f"no Ollama server answers: {error}")
        return []


def run(name: str) -> None:
    """Run the task and print what happens to each attempt."""
    # A small model may repeat itself without end, and Ollama does not stop it.
    model = load_model(f"ollama:{name}", num_predict=400)
    for event in LangGraphOrchestrator.from_model(model).stream(TASK):
        match event:
            case StepExecuted(record=record):
                print(f"step {record['step_index'] + 1}, attempt {record['attempt']}: {record['result']}")
            case StepJudged(record=record):
                print(f"  {record['status']}: {record.get('basis_reason')}")
            case StepRetried(feedback=feedback):
                print(f"  {feedback}")
            case RunFinished(status=status, basis=basis, state=state):
                print(f"{status}, {basis}: {state['output'] or state['failure']}")


if __name__ == "__main__":
    names = sys.argv[1:] or list_models()
    if names:
        print("model:", names[0])
        run(names[0])
    else:
        print("Start `ollama serve`, then `ollama pull qwen3`, and run this example again.")
