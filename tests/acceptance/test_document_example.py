"""The three agents used together, by the names and keywords that existing programs use."""

import re

from agents.testing import ScriptedChatModel

SCRIPT = """
from agents import ExecutionAgent, MonitoringAgent, PlanningAgent

steps = PlanningAgent(llm=llm).generate_plan("Write a haiku about the ocean")
executor, monitor = ExecutionAgent(llm=llm), MonitoringAgent(llm=llm)
for number, description in enumerate(steps, start=1):
    text = executor.execute_step(step_description=description)
    verdict = monitor.evaluate(objective=description, result=text)
    print(number, description, text, sep=" | ")
    print("met:" if verdict["success"] else "not met:", verdict["feedback"])
"""


def run_script(llm):
    names = {"llm": llm}
    exec(compile(SCRIPT, "example", "exec"), names)
    return names


def test_the_program_prints_each_step_with_its_verdict(capsys):
    replies = [
        '{"plan": ["Choose an image", "Write three lines"]}',
        "Waves at dusk",
        '{"success": true, "feedback": "An image is chosen."}',
        "Waves",
        '{"success": false, "feedback": "Two lines are missing."}',
    ]
    run_script(ScriptedChatModel(replies))

    assert capsys.readouterr().out.splitlines() == [
        "1 | Choose an image | Waves at dusk",
        "met: An image is chosen.",
        "2 | Write three lines | Waves",
        "not met: Two lines are missing.",
    ]


def test_the_program_runs_on_the_embedded_model(embedded_llm, capsys):
    names = run_script(embedded_llm)

    printed = capsys.readouterr().out
    assert len(names["steps"]) == len(re.findall(r"^(?:not )?met: ", printed, re.MULTILINE)) >= 1
    assert {type(value) for value in names["verdict"].values()} == {bool, str}


def test_the_program_runs_on_a_server_for_ollamas_protocol(ollama_llm, capsys):
    names = run_script(ollama_llm)

    assert "met: " in capsys.readouterr().out
    assert set(names["verdict"]) == {"success", "feedback"}
