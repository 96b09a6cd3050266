from evaluation.measures.action_differences import is_other_spelling
from tests.evaluation.measures.trajectory.builders import match, seen, step


def test_a_disagreement_stands_whatever_the_rules_compare():
    result = match(["x"], ["lookup", "transfer"], "exact", ignored_tools=["transfr"])

    assert (result.agrees, result.error) == (False, None)


def test_an_idle_rule_withdraws_the_shares_that_thresholds_may_ask_for():
    result = match(["x", "a"], ["a", "b"], "precision_recall", ignored_tools=["a", "b"])

    assert (result.agrees, result.shares["precision"], result.shares["recall"]) == (None, None, None)
    assert "leave out every expected action" in result.error


def test_a_rule_for_many_tools_may_name_arguments_that_one_of_them_lacks():
    named = {"match": "named", "names": ["id", "amount"]}
    action, expected = seen("cancel", {"id": 1}), step("cancel", {"id": 1})

    assert match([action], [expected], arguments=named).agrees
    assert match([action, seen("list", {})], [expected, step("list", {})], arguments=named).agrees
    assert match(["a"], ["a"], arguments=named).agrees
    assert not match([action], [expected], arguments={"match": "named", "names": ["amount"]}).agrees


def test_one_name_written_twice_is_told_from_two_names(subtests):
    for name, other, is_one in [
        ("transfr", "transfer", True),
        ("transferr", "transfer", True),
        ("tarnsfer", "transfer", True),
        ("Transfer", "transfer", True),
        ("send-mail", "send_mail", True),
        ("send mail ", "send_mail", True),
        ("get_order", "set_order", False),
        ("get_order", "get_orders", False),
        ("step_1", "step_11", False),
        ("step_1", "step_2", False),
        ("rm", "rmi", False),
        ("transfer", "refund", False),
        ("get_user", "get_user_details", False),
    ]:
        with subtests.test(name=name, other=other):
            assert is_other_spelling(name, other) is is_one
            assert is_other_spelling(other, name) is is_one


def test_many_names_are_searched_within_bounds():
    names = [f"tool_{index:05}" for index in range(5_000)]

    assert match(names, names, ignored_tools=[f"x{name}x" for name in names]).agrees
