"""Lists whose items may come in any order, against every order of their items."""

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluation.inputs.trajectory_rules import ArgumentRule
from evaluation.metrics.trajectory.arguments.differences import find_differences, read_number
from evaluation.metrics.trajectory.assignment import UndecidedError
from tests.evaluation.metrics.trajectory.builders import match, seen, step

leaves = st.sampled_from([0, 1, 2, True, 1.5, "1", "1.0", "a", "A", None])
rows = st.lists(leaves | st.dictionaries(st.sampled_from("xy"), leaves, max_size=2), max_size=3)
orders = st.lists(st.fixed_dictionaries({}, optional={"x": rows, "id": leaves}), max_size=2)
objects = st.fixed_dictionaries({}, optional={"x": rows, "y": rows, "orders": orders})
options = st.fixed_dictionaries(
    {"match": st.sampled_from(["exact", "superset", "subset"])},
    optional={
        "tolerance": st.just(1.0),
        "ignore_case": st.just(True),
        "numbers_as_text": st.just(True),
        "unordered": st.sampled_from([["x"], [["x", "y"]], ["orders.x"], ["orders", "orders.x"], ["y", "x"]]),
    },
)


@st.composite
def pairs_of_objects(draw):
    """Two objects that have something in common: the second one is the first with other orders and values."""
    expected = draw(objects)
    observed = {name: draw(st.permutations(value)) for name, value in expected.items()}
    return expected, {**observed, **draw(st.just({}) | objects)}


def agree(expected, observed, **rule):
    return not any(find_differences(expected, observed, ArgumentRule(**rule)))


def every_order(value, groups, path=""):
    """Yield every value that differs from this one only in the order of the lists that have none."""
    if isinstance(value, list):
        yield from map(list, product(*[list(every_order(item, groups, path)) for item in value]))
    elif isinstance(value, dict):
        inner = [list(every_order(item, groups, f"{path}.{key}".strip("."))) for key, item in value.items()]
        for chosen in product(*inner):
            yield from every_order_of_groups(dict(zip(value, chosen, strict=True)), groups, path)
    else:
        yield value


def every_order_of_groups(value, groups, path):
    if not groups:
        yield value
        return
    inside = [name.rpartition(".")[2] for name in groups[0] if name.rpartition(".")[0] == path]
    names = [name for name in inside if name in value]
    sizes = {len(value[name]) for name in names}
    for order in permutations(range(sizes.pop())) if len(sizes) == 1 else ():
        moved = {name: [value[name][index] for index in order] for name in names}
        yield from every_order_of_groups({**value, **moved}, groups[1:], path)
    if not names or sizes:
        yield from every_order_of_groups(value, groups[1:], path)


def is_shared(path, expected, observed):
    return "." in path or (path in expected and path in observed)


@given(pairs_of_objects(), options)
def test_lists_agree_exactly_if_some_order_of_their_items_does(pair, rule):
    expected, observed = pair
    ordered = {name: value for name, value in rule.items() if name != "unordered"}
    groups = ArgumentRule(**rule).unordered_groups
    # Only lists that both sides have form a group.
    shared = [[path for path in group if is_shared(path, expected, observed)] for group in groups]

    result = any(
        agree(order, observed, **ordered)
        for order in every_order(expected, [group for group in shared if group])
    )

    assert agree(expected, observed, **rule) is result


def test_only_the_items_that_have_no_partner_differ():
    rule = ArgumentRule(unordered=["x"])
    differences = find_differences({"x": ["a", "b", "c"]}, {"x": ["c", "d", "a"]}, rule)

    assert [tuple(each) for each in differences] == [("/x/1", "different", "b", "d")]


def test_long_lists_are_compared_within_bounds():
    items = list(range(20_000))
    observed, expected = [seen("a", {"ids": items[::-1]})], [step("a", {"ids": items})]

    assert match(observed, expected, arguments={"unordered": ["ids"]}).agrees
    other = match(
        [seen("a", {"ids": items[:0:-1]})], [step("a", {"ids": items[:-1]})], arguments={"unordered": ["ids"]}
    )
    assert "too many" in other.error


def test_the_search_for_pairs_counts_its_comparisons():
    def refuse(count):
        raise UndecidedError(str(count))

    rule = ArgumentRule(unordered=["x"])
    with pytest.raises(UndecidedError, match=r"^9$"):
        list(find_differences({"x": [1, 2, 3]}, {"x": [3, 4, 5]}, rule, refuse))


@pytest.mark.parametrize(
    "unordered", [[""], ["a."], [".a"], ["a..b"], [[]], ["a", "a"], ["a", ["a", "b"]], [["a.x", "b.y"]], [1]]
)
def test_a_path_names_one_list_and_a_group_the_lists_of_one_object(unordered):
    with pytest.raises(ValidationError):
        ArgumentRule.model_validate({"unordered": unordered})


@pytest.mark.parametrize(
    ("text", "number"),
    [("12.50", 12.5), ("0", 0), ("-3", -3), ("1e3", 1000), ("9" * 30, 10**30 - 1)],
)
def test_a_text_counts_as_the_number_that_it_writes(text, number):
    assert read_number(text) == number
    assert agree({"x": [number]}, {"x": [text]}, numbers_as_text=True)
    assert not agree({"x": [number]}, {"x": [text]})


@pytest.mark.parametrize(
    "text",
    ["007", "+1", " 1", "1 ", "1_000", "1,000", "0x1", "nan", "Infinity", "1e999", "", "\u0661", "1" * 2000],
)
def test_a_code_or_a_word_counts_as_no_number(text):
    assert read_number(text) == text


TWO = {"item_ids": ["1", "2"], "new_item_ids": ["a", "b"]}
SWAPPED = {"item_ids": ["2", "1"], "new_item_ids": ["b", "a"]}
CROSSED = {"item_ids": ["2", "1"], "new_item_ids": ["a", "b"]}
PAIRS = [["item_ids", "new_item_ids"]]


@pytest.mark.parametrize(
    ("expected", "observed", "rule", "same"),
    [
        (TWO, SWAPPED, {"unordered": PAIRS}, True),
        (TWO, CROSSED, {"unordered": PAIRS}, False),
        (TWO, CROSSED, {"unordered": PAIRS[0]}, True),
        (TWO, SWAPPED, {}, False),
        ({"item_ids": [1, 2]}, {"item_ids": [2, 1]}, {"unordered": PAIRS}, True),
        ({"x": [1, 2], "y": 1}, {"x": [2, 1]}, {"match": "named", "names": ["x"], "unordered": ["x"]}, True),
        ({"x": [1, 1, 2]}, {"x": [1, 2, 2]}, {"unordered": ["x"]}, False),
        ({"x": [1]}, {"x": [1, 1]}, {"unordered": ["x"]}, False),
        # A loose item leaves the partner of a strict one, and equal numbers are not paired first.
        ({"x": [{}, {"a": 1}]}, {"x": [{"a": 1}, {"b": 2}]}, {"match": "superset", "unordered": ["x"]}, True),
        ({"x": [1, 2]}, {"x": [2, 3]}, {"tolerance": 1.0, "unordered": ["x"]}, True),
        ({"x": "12.50"}, {"x": 12.49}, {"numbers_as_text": True, "tolerance": 0.01}, True),
        ({"x": True}, {"x": "1"}, {"numbers_as_text": True}, False),
        ({"x": True}, {"x": "true"}, {"numbers_as_text": True}, False),
        ({"x": None}, {"x": "0"}, {"numbers_as_text": True}, False),
        ({"x": "7"}, {"x": "007"}, {"numbers_as_text": True}, False),
    ],
)
def test_items_agree_in_pairs_and_texts_as_numbers(expected, observed, rule, same):
    assert agree(expected, observed, **rule) is same
