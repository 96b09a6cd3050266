"""A step with a contract: a check refuses the first output, its words correct the second, no judge is called.

The model is scripted, so that the output is always the same; put ``load_model("local")`` in its place.
"""

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator

model = ScriptedChatModel(['{"plan": ["Say hello"]}', "Hello, you", "Hello world"])
orchestrator = LangGraphOrchestrator(
    PlanningAgent(model),
    ExecutionAgent(model),
    MonitoringAgent(model),
    contract=EvaluationContract(required_content=[{"text": "world"}], output_length={"max_words": 5}),
)
state = orchestrator.run("Greet the world")

for record in state["results"]:
    print(record["attempt"], record["status"], record["verdict"]["feedback"])
print(state["judge_calls"])
