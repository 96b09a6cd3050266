"""Use the three agents without an orchestrator: plan a task, then execute and judge each step."""

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent, load_model

llm = load_model("local")
planner = PlanningAgent(llm=llm)
executor = ExecutionAgent(llm=llm)
monitor = MonitoringAgent(llm=llm)

for step in planner.generate_plan("Write a haiku about the ocean"):
    output = executor.execute_step(step_description=step)
    verdict = monitor.evaluate(objective=step, result=output)
    print(f"{step}\n  output:   {output}")
    print(f"  success:  {verdict['success']}\n  feedback: {verdict['feedback']}")
