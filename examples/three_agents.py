"""The three agents without an orchestrator: plan, then execute and judge each step yourself."""

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent, load_model

llm = load_model("local")
planner = PlanningAgent(llm=llm)
executor = ExecutionAgent(llm=llm)
monitor = MonitoringAgent(llm=llm)

for step in planner.generate_plan("Write a haiku about the ocean"):
    output = executor.execute_step(step_description=step)
    verdict = monitor.evaluate(objective=step, result=output)
    print(
        f"{step}\n  output:   {output}\n  success:  {verdict['success']}\n  feedback: {verdict['feedback']}"
    )
    if not verdict["success"]:
        print("  not met: retry it, or have a person look at it")
