from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate, run_from_state
from orchestrator import LangGraphOrchestrator
from tests.fakes.runs import agent, build, call, price_of

ACCEPT = '{"success": true, "feedback": "fine"}'
CALL = call("price_of", title="Moby Dick")
REFUND = call("refund_order", order="1")
WRONG, RIGHT = "It costs 99 euros.", "It costs 12.50 euros."


def refund_order(order: str) -> str:
    """Refund an order."""
    return "refunded"


def run(*replies, plan=("Find the price",), **options):
    steps = ", ".join(f'"{step}"' for step in plan)
    model = ScriptedChatModel([f'{{"plan": [{steps}]}}', *replies])
    tools = [price_of, refund_order]
    state = LangGraphOrchestrator.from_model(model, tools=tools, **options).run("What does it cost?")
    return state, model


def test_the_monitor_sees_the_outcomes_of_checks_and_the_answers_of_tools():
    stated = {"required_content": [{"text": "euros"}], "subjective_criteria": ["polite"]}
    contract = EvaluationContract.model_validate(stated)
    _, model = run(CALL, RIGHT, ACCEPT, contract=contract)
    question = model.prompts[-1][-1].text

    assert 'include "euros": met; ' in question
    assert '"name": "price_of", "args": {"title": "Moby Dick"}, "result": "12.5"' in question


def test_a_fact_that_contradicts_a_result_is_sent_back_with_both_sides():
    state, _ = run(CALL, WRONG, ACCEPT, CALL, RIGHT, ACCEPT)

    assert (state["status"], state["output"]) == ("success", RIGHT)
    feedback = state["results"][0]["verdict"]["feedback"]
    assert feedback.startswith("Your output was not accepted. What has to change")
    assert ("It costs 99 euros." in feedback, "12.5" in feedback) == (True, True)


def test_a_recorded_run_knows_the_results_of_the_steps_before(subtests):
    for last, status in [("77 euros are paid.", "passed"), ("99 euros are paid.", "failed")]:
        for synthesis in [True, False]:
            with subtests.test(last=last, synthesis=synthesis):
                contract = {"checks": [{"check": "sourced_facts"}]}
                options = {"contract": contract, "synthesis": synthesis, "max_retries": 0, "grounding": "off"}
                replies = ["It is 77.", ACCEPT, CALL, *(["It is 77.", ACCEPT] if synthesis else []), last]
                state, _ = run(*replies, plan=["Look", "Say"], **options)
                recorded = {**run_from_state(state), "final_output": last}
                recorded.pop("error", None)

                assert (state["status"] == "success") is (status == "passed")
                assert evaluate({"agent_run": recorded, **contract}).status == status


def test_without_grounding_nothing_is_compared(subtests):
    for options in [{"grounding": "off"}, {"contract": None, "grounding": "off"}]:
        with subtests.test(options=options):
            state, _ = run(CALL, WRONG, ACCEPT, **options)

            assert len(state["results"]) == 1


def test_a_step_may_say_what_the_step_before_has_done():
    executor = agent(REFUND, "I refunded it.", "The order has been refunded.", tools=[refund_order])
    orchestrator = build(executor, plan=["Refund it", "Say so", "x"], synthesis=False)
    state = orchestrator.run("Refund it")

    assert state["results"][1]["status"] == "validated"


def test_a_target_from_nowhere_is_refused_in_each_attempt():
    def find_order(title: str) -> str:
        """Find an order."""
        return "ord_1001"

    find, refund = call("find_order", title="Moby Dick"), call("refund_order", order="ord_1007")
    model = ScriptedChatModel(['{"plan": ["Refund it"]}', *[find, refund, "It is refunded.", ACCEPT] * 2])
    orchestrator = LangGraphOrchestrator.from_model(model, tools=[find_order, refund_order], max_retries=1)
    state = orchestrator.run("Refund Moby Dick")

    assert state["status"] == "failed"
    assert all("ord_1007" in each["verdict"]["feedback"] for each in state["results"])


def test_a_live_and_a_recorded_run_have_one_verdict(subtests):
    for calls, output, is_right in [
        ([CALL], RIGHT, True),
        ([CALL], WRONG, False),
        ([REFUND], "I refunded order 1.", True),
        ([CALL], "I refunded order 1.", False),
        ([], "I refunded order 1.", False),
    ]:
        with subtests.test(calls=calls, output=output):
            state, _ = run(*calls, output, ACCEPT, max_retries=0)
            recorded = {**run_from_state(state), "final_output": output}
            recorded.pop("error", None)
            report = evaluate({"agent_run": recorded, "audit": {"defects": "fail"}})

            assert (state["status"] == "success", report.status == "passed") == (is_right, is_right)
