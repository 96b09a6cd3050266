from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from agents.models.model_call import answer_text
from agents.parsing.plans import read_plan
from agents.parsing.thoughts import remove_thoughts
from agents.parsing.verdicts import read_verdict
from tests.fakes.model_text import FENCE, LONG
from tests.sampling import sample_table


def test_thoughts_are_dropped(subtests):
    for text, answer in [
        ("answer", "answer"),
        ("  answer \n", "answer"),
        ("\n<think>\na\n</think>\n\nanswer\n", "answer"),
        ("<THINK>a</Think> answer", "answer"),
        ("<think>a", ""),
        ("a</think>b</think>answer", "answer"),
        ("<think>a</think>the tag </think> ends a thought", "the tag </think> ends a thought"),
        ("The tags <think> and </think> enclose it.", "The tags <think> and </think> enclose it."),
        ('{"a": "</think>"}', '{"a": "</think>"}'),
        ("", ""),
        # In any place.
        ("an\n<think>a</think>\nswer", "an\n\nswer"),
        ("<think>a<think>b</think>c</think>answer", "answer"),
        ("<think>a<think>b</think>answer <think>c</think>!", "answer !"),
        ("</think>answer", "answer"),
        # In other markings.
        ("a[/THINK]answer", "answer"),
        ("<seed:think>a</seed:think>answer", "answer"),
        ('<thinking time="3">a</thinking>answer', "answer"),
        ("<thought>a</thought>answer", "answer"),
        ("<inner_thoughts>a</inner_thoughts>answer", "answer"),
        ("<my-scratchpad-2>a</my-scratchpad-2>answer", "answer"),
        ("<antThinking>a</antThinking>answer", "answer"),
        ("<InnerThoughts>a</InnerThoughts>answer", "answer"),
        ("an <\nThinking>a</ Thinking>swer", "an swer"),
        ("< think >a", ""),
        ("a</antThinking>answer", "answer"),
        ("<rethink>a</rethink>", "<rethink>a</rethink>"),
        ("<cancelReason>late</cancelReason>", "<cancelReason>late</cancelReason>"),
        ("<reasonCode>5</reasonCode>", "<reasonCode>5</reasonCode>"),
        ("3 < think of 4 > 2", "3 < think of 4 > 2"),
        ("[REASONING]a[/REASONING]answer", "answer"),
        ("◁think▷a◁/think▷answer", "answer"),
        ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>answer<|END_RESPONSE|>", "answer"),
        ("<｜begin▁of▁thinking｜>a<｜end▁of▁thinking｜>answer", "answer"),
        ("<|channel>thought\na<channel|>answer", "answer"),
        ("<unused94>thought\na<unused95>answer", "answer"),
        ("thought\na<unused95>answer", "answer"),
        ("<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>b<|end_of_solution|>", "b"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "b"),
        ("<|channel|>analysis<|message|>a<|end|><|channel|>commentary<|message|>b<|end|>c<|return|>", "c"),
        ("<|start|>assistant<|channel|>analysis<|message|>a", ""),
        ("a<|end|><|start|>assistant<|channel|>final<|message|>answer<|return|>", "answer"),
        ("analysis<|message|>a", ""),
        ("final<|message|>answer", "answer"),
        ("<|message|>answer", "answer"),
        ("<|channel|>final <|constrain|>json<|message|>{}<|return|>", "{}"),
        ("analysis <|constrain|>json<|message|>{}<|end|><|channel|>final<|message|>answer", "answer"),
        ("`<|channel|>final<|message|>` begins it", "`<|channel|>final<|message|>` begins it"),
        ("analysisaassistantfinalanswer", "answer"),
        ("analysisaassistantcommentaryb", ""),
        ("commentaryaassistantfinalanswer", "answer"),
        ("An <think> a b? </think> swer", "An  swer"),
        ("Okay <reasoning> a.</reasoning> answer", "Okay  answer"),
        ("So 5 ◁think▷ or 6 ◁/think▷ is right", "So 5  is right"),
        ("Well [THINK] a [/THINK], b [THINK] c", "Well , b"),
        ("The answer <think> hmm", "The answer"),
        # Escaped for a page or for JSON.
        ("&lt;think&gt;a&lt;/think&gt;answer", "answer"),
        ("an &LT;Thinking&GT;a&#60;/Thinking&#62;swer", "an swer"),
        (r"\u003cthink\u003ea\u003c\/think\u003eanswer", "answer"),
        ("a&lt;/think&gt;answer", "answer"),
        ("&lt;think&gt;a", ""),
        ("The &lt;think&gt; tag opens it", "The &lt;think&gt; tag opens it"),
        ("<code>&lt;think&gt;</code> opens it", "<code>&lt;think&gt;</code> opens it"),
        # Tags that a sentence names.
        ("<think> opens thoughts and </think> ends them.", "<think> opens thoughts and </think> ends them."),
        ('The "<think>" tag, not </ think>.', 'The "<think>" tag, not </ think>.'),
        ("Set the token ◁think▷ in each prompt", "Set the token ◁think▷ in each prompt"),
        ("a tag </think> in b</think>answer", "answer"),
        # At the beginning, before an answer.
        ("<analysis>a</analysis>\nanswer", "answer"),
        ("<internal_monologue>a</internal_monologue>\nanswer", "answer"),
        ("<Deliberation>\na\n</Deliberation>\n\nanswer", "answer"),
        ("<analysis>a</analysis>", "<analysis>a</analysis>"),
        ("See <analysis>a</analysis> b", "See <analysis>a</analysis> b"),
        ("`<think>`\na\n`</think>`\nanswer", "answer"),
        # Thoughts that begin like data.
        ('"A", the user asks. b?</think>answer', "answer"),
        ("[A sum is asked for.] b?</think>answer", "answer"),
        ("`a`: b?</think>\nanswer", "answer"),
        ("`</think>` ends thoughts.", "`</think>` ends thoughts."),
        ('"a</think>b"', '"a</think>b"'),
        # Tokens around a turn.
        ("answer<|im_end|>\n<|im_start|>user\na", "answer"),
        ("<|im_start|>assistant\nanswer<|im_end|>", "answer"),
        ("answer<|eot_id|>", "answer"),
        ("answer.</s>", "answer."),
        ("answer<｜end▁of▁sentence｜>", "answer"),
        # What only looks like thoughts.
        ("Use `<think>` and `</think>`.", "Use `<think>` and `</think>`."),
        (f"{FENCE}\n<think>a</think>\n{FENCE}", f"{FENCE}\n<think>a</think>\n{FENCE}"),
        ('{"plan": ["Explain <think> tags"]}', '{"plan": ["Explain <think> tags"]}'),
        ("analysis of a", "analysis of a"),
        ("<s>a</s>", "<s>a</s>"),
        ("See [Thinking](a).", "See [Thinking](a)."),
    ]:
        with subtests.test(text=text):
            assert remove_thoughts(text) == answer


def test_a_commentary_of_the_responses_api_is_no_answer(subtests):
    for phases, answer in [
        (("commentary", "final_answer"), "b"),
        (("commentary", None), "b"),
        ((None, None), "ab"),
        (("commentary", "commentary"), "ab"),
    ]:
        parts = [
            {"type": "text", "text": text, "phase": phase} for text, phase in zip("ab", phases, strict=True)
        ]
        with subtests.test(phases=phases):
            assert answer_text(AIMessage(parts)) == answer


PATTERNS = [
    *("{", "[", '"', "'", "\\", '\\"', '["', '{"', '["a', '{"a":', "{a", "{ ", ",", ":", "{}", '["a",1]'),
    *('{"plan":["a"]}', '{"success":true}', '{"success":true', "{'success':true}", "{\\u}", "<think>"),
    *("[THINK]", "<|", "<|channel|>analysis", "<tool_call>", "pay(", ':"'),
    *("</think>", FENCE, FENCE + "json", "1. a\n", "**1. ", "### Step 1: a\n", "- a\n", " ", "\n", "//", "#"),
]


@pytest.mark.parametrize(
    "rows",
    sample_table(
        [
            *(("", pattern) for pattern in PATTERNS),
            *(('{"plan": [', pattern) for pattern in ('"a', "'", '["', "{}", ",", '"action_input":')),
            *(('{"success": true, "feedback": ', pattern) for pattern in ('"a', "'", "{", "\\", "//")),
        ],
        every=9,
    ),
)
def test_a_long_text_of_one_pattern_is_read_in_time_that_does_not_explode(subtests, rows):
    """A quadratic reader needs minutes for one of these; the suite's own patience is the bound."""
    for opening, pattern in rows:
        with subtests.test(opening=opening, pattern=pattern):
            text = (opening + pattern * (LONG // len(pattern)))[:LONG]
            read_plan(text)

            verdict = read_verdict(text)
            assert not isinstance(verdict, dict) or not verdict["success"]  # no reply here has an end
