import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from agents import CompressContextTool

NOTE = re.compile(r"\A\[(\d+) earlier results? left out to save space\]\n\n")


def block(number: int, body: str) -> str:
    return f"Step {number}: do\n{body}"


def context(*bodies: str) -> str:
    return "\n\n".join(block(at, body) for at, body in enumerate(bodies, 1))


bodies = st.lists(
    st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=300),
    min_size=1,
    max_size=15,
)


@given(st.text(max_size=3000), st.integers(200, 400))
def test_the_result_never_exceeds_the_bound(text, bound):
    assert len(CompressContextTool(max_length=bound).invoke(text)) <= bound


@given(st.text(max_size=200))
def test_a_short_text_comes_back_as_it_is(text):
    assert CompressContextTool(max_length=200).invoke(text) == text


@given(bodies, st.integers(500, 1000))
def test_the_newest_result_is_kept_whole_where_it_fits(texts, bound):
    short = CompressContextTool(max_length=bound).invoke(context(*texts))
    assert short.endswith(block(len(texts), texts[-1]).strip())


@given(bodies, st.integers(500, 1000))
def test_every_result_is_whole_or_counted_as_left_out(texts, bound):
    results = [block(at, body).strip() for at, body in enumerate(texts, 1)]
    short = CompressContextTool(max_length=bound).invoke(context(*texts))
    note = NOTE.match(short)
    shown = re.split(r"\n\n(?=Step \d+:)", short[note.end() :] if note else short)
    assert all(result.strip() in results for result in shown)
    assert len(shown) + (int(note[1]) if note else 0) == len(results)


def test_the_result_that_shares_words_with_the_task_is_preferred():
    text = context("whales sing " + "a" * 120, "b" * 130, "c" * 130, "the end")
    tool = CompressContextTool(max_length=300)
    assert "whales sing" in tool.compress(text, "Write about Whales")
    assert "whales sing" not in tool.compress(text)
    assert "ccc" in tool.compress(text)


def test_a_newest_result_that_is_too_long_keeps_its_beginning_and_its_end():
    short = CompressContextTool(max_length=300).invoke(context("x" * 100, "begin" + "y" * 1000 + "end"))
    assert short.startswith("[1 earlier result left out to save space]\n\nStep 2: do\nbegin")
    assert f"[... {len(block(2, '')) + 1008} characters in all, the middle left out ...]" in short
    assert short.endswith("end")
    assert len(short) == 300


def test_a_bound_too_small_to_say_what_is_missing_is_refused(subtests):
    for bound in [-1, 0, 199]:
        with subtests.test(bound=bound), pytest.raises(ValidationError, match="max_length"):
            CompressContextTool(max_length=bound)


async def test_it_is_a_langchain_tool():
    tool = CompressContextTool(max_length=250)
    text = context("x" * 150, "y" * 150)
    assert isinstance(tool, BaseTool)
    assert tool.name == "compress_context"
    assert list(tool.args) == ["text"]
    assert tool.invoke(text) == tool.invoke({"text": text}) == tool._run(text) == await tool.ainvoke(text)
