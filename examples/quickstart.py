"""The smallest complete program: the embedded model plans a task, executes its steps and judges them."""

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent, load_model
from orchestrator import LangGraphOrchestrator

llm = load_model("local")
orchestrator = LangGraphOrchestrator(PlanningAgent(llm), ExecutionAgent(llm), MonitoringAgent(llm))
state = orchestrator.run("List three uses of a brick")

print(state["status"])
for record in state["results"]:
    print(record["step"], "->", record["status"], record["verdict"])
