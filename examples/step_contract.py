"""Check a step with a contract: the first output fails, the feedback corrects the second, no judge is called.

The model is scripted, so the output is always the same. For a real one, use ``load_model("local")``.
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
print("judge calls:", state["judge_calls"])
