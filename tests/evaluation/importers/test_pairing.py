from hypothesis import given
from hypothesis import strategies as st

from evaluation import run_from_messages


def calling(*calls):
    """A message that calls tools, each written as "id:name"; an empty id is left out."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {**({"id": call_id} if call_id else {}), "function": {"name": name, "arguments": "{}"}}
            for call_id, name in (call.split(":") for call in calls)
        ],
    }


def answer(text, call_id=None, name=None):
    known = {"tool_call_id": call_id, "name": name}
    return {"role": "tool", "content": text, **{key: value for key, value in known.items() if value}}


def results(*messages):
    return [call["result"] for call in run_from_messages(messages)["tool_calls"]]


PAIRINGS = {
    "an id that is used again means the latest call": (
        [calling("1:cancel"), answer("refused", "1"), calling("1:find"), answer("found", "1")],
        ["refused", "found"],
    ),
    "an answer goes to no call after it": ([answer("early", "1"), calling("1:cancel")], [None]),
    "by id, in any order": ([calling("1:a", "2:b"), answer("B", "2"), answer("A", "1")], ["A", "B"]),
    "without ids, in order": ([calling(":a", ":b"), answer("A"), answer("B")], ["A", "B"]),
    "without ids, by name": ([calling(":a", ":b"), answer("B", name="b"), answer("A", name="a")], ["A", "B"]),
    "without an id, to the nearest message": ([calling(":a"), calling(":b"), answer("B")], [None, "B"]),
    "without an id, to calls with ids": ([calling("1:a", "2:b"), answer("A"), answer("B")], ["A", "B"]),
    "with an id, to a call without one": ([calling(":a"), answer("A", "1")], ["A"]),
    "an unknown id goes to no call with another": ([calling("2:a"), answer("?", "1")], [None]),
    "a second answer replaces no first": ([calling("1:a"), answer("A", "1"), answer("?", "1")], ["A"]),
}


def test_an_answer_belongs_to_a_call_by_id_name_or_order(subtests):
    for case, (log, expected) in PAIRINGS.items():
        with subtests.test(case):
            assert results(*log) == expected


@given(st.lists(st.lists(st.sampled_from("1234"), min_size=1, max_size=4, unique=True)), st.randoms())
def test_ids_that_are_unique_in_their_message_are_enough(turns, random):
    log, expected = [], []
    for turn, ids in enumerate(turns):
        log.append(calling(*(f"{call_id}:a" for call_id in ids)))
        expected += [f"{turn} {call_id}" for call_id in ids]
        log += random.sample([answer(f"{turn} {call_id}", call_id) for call_id in ids], len(ids))

    assert results(*log) == expected
