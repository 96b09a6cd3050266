"""Get an answer as an object: the output is JSON that fits a pydantic model, or the run fails.

    python examples/structured_output.py
    python examples/structured_output.py local
    python examples/structured_output.py ollama:qwen3

The script replaces a model whose first answer has a text in place of a number. The judge of the script
approves both answers; the check decides.
"""

import sys

from pydantic import BaseModel, Field

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator


class Planet(BaseModel):
    """The answer."""

    name: str
    moons: int = Field(ge=0)


APPROVED = '{"success": true, "feedback": "It describes Mars."}'
SCRIPT = [
    '{"name": "Mars", "moons": "a few"}',
    '{"name": "Mars", "moons": 2}',
    APPROVED,
]
model = sys.argv[1] if sys.argv[1:] else ScriptedChatModel(SCRIPT)
orchestrator = LangGraphOrchestrator.from_model(model, output_type=Planet)
state = orchestrator.run("Describe the planet Mars by its name and its number of moons")

for record in state["results"]:
    print(f"attempt {record['attempt']}, {record['status']}: {record['result']}")
    if record["status"] == "failed" and record["verdict"]:
        print(f"  {record['verdict']['feedback']}")
if state["output"] is not None:
    planet = Planet.model_validate_json(state["output"])
    print(f"{planet!r}; one moon more makes {planet.moons + 1}")
else:
    print("failed:", state["failure"] and state["failure"]["message"])
