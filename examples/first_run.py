"""Run a first task: the embedded model plans and executes it, and code checks what the task states."""

from orchestrator import LangGraphOrchestrator

orchestrator = LangGraphOrchestrator.from_model("local")
state = orchestrator.run("Explain in one paragraph why the sky is blue, and mention the word light.")

for record in state["results"]:
    print(f"attempt {record['attempt']} of step {record['step_index'] + 1}: {record['status']}")
    print(f"  {record.get('basis_reason')}")
print(f"{state['status']}, {state['basis']}:\n{state['output']}")
