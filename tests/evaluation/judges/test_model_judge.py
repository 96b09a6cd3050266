import asyncio
import json

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage

from agents import ModelRefusedError, ModelUnavailableError, TransportRetry
from agents.testing import ScriptedChatModel
from evaluation.contract.rubric import Criterion, Rubric
from evaluation.errors import ContractError, JudgeError
from evaluation.judges.judge_call import JudgeScore, read_judge_result
from evaluation.judges.model_judge import RubricJudge
from tests.evaluation.judges.asking import RUBRIC, request
from tests.fakes.protocol_server import ModelReply, refuse, serve_model

REPLY = {
    "rationale": "Clear and warm.",
    "criteria": {"clarity": 3, "warmth": 5},
    "concerns": ["short"],
    "recommended_action": "Keep it.",
}
GOOD = json.dumps(REPLY)
AT_ONCE = TransportRetry(initial_seconds=0)
KEY = "a-key-of-no-known-form-0815"


class ServerError(Exception):
    def __init__(self, status_code, text):
        super().__init__(text)
        self.status_code = status_code


def replying(*replies, **options):
    script = [json.dumps(reply) if isinstance(reply, dict) else reply for reply in replies]
    llm = ScriptedChatModel(script, usage=(100, 20))
    return RubricJudge(llm, **options), llm


def failure(judge):
    with pytest.raises(JudgeError) as raised:
        judge.judge(request())
    return raised.value


def test_the_overall_score_is_the_mean_of_the_criteria_by_weight_or_a_lower_one_that_is_stated(subtests):
    for stated, score in [
        ({}, (3 + 3 * 5) / 4),
        ({"score": 5, "usage": {"cost_usd": -1}}, 4.5),
        ({"score": 1}, 1),
    ]:
        with subtests.test(stated=stated):
            judge, _ = replying({**REPLY, **stated})
            result = read_judge_result(judge.judge(request()), RUBRIC)
            assert isinstance(result, JudgeScore)
            assert (result.score, dict(result.criteria)) == (score, {"clarity": 3, "warmth": 5})
            assert "cost_usd" not in result.usage


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectionError("refused"), ModelUnavailableError),
        (ServerError(500, "json_schema"), ModelUnavailableError),
        (ServerError(400, "no"), ModelRefusedError),
        (ZeroDivisionError("a bug"), ZeroDivisionError),
    ],
)
async def test_an_error_of_the_provider_is_raised_after_the_retries(error, kind):
    # A refusal is asked for once more without the schema, which the server may not know.
    times = 2 if kind is ModelRefusedError else 1
    judge, llm = replying(*[error] * 2 * times, transport_retry=TransportRetry(max_attempts=1))
    for answer in (lambda: asyncio.to_thread(judge.judge, request()), lambda: judge.ajudge(request())):
        with pytest.raises(kind, match=str(error)):
            await answer()
    assert len(llm.prompts) == 2 * times


def test_a_model_with_a_cache_is_asked_once_and_the_second_answer_costs_nothing():
    judge, llm = replying(REPLY)
    llm.cache = InMemoryCache()
    first, second = judge.judge(request()), judge.judge(request())
    assert (first["score"], second["score"], second["usage"]["cost_usd"]) == (4.5, 4.5, 0.0)
    assert len(llm.prompts) == 1


def test_a_reply_is_read_in_whatever_form_it_comes(subtests):
    for reply in [
        AIMessage("", tool_calls=[{"name": "judge_answer", "args": REPLY, "id": "1"}]),
        AIMessage([{"type": "text", "text": json.dumps(REPLY)}]),
        f"```json\n{json.dumps(REPLY)}\n```",
    ]:
        with subtests.test(reply=reply):
            judge, _ = replying(reply)
            assert judge.judge(request())["score"] == 4.5


def test_a_model_that_takes_no_schema_is_asked_in_words():
    llm = FakeListChatModel(responses=[json.dumps(REPLY)])
    assert RubricJudge(llm).judge(request())["score"] == 4.5


def test_a_blocked_reply_is_an_error_of_its_kind_that_says_what_it_cost(subtests):
    for reply, said in [
        ("", "empty"),
        (AIMessage(GOOD, response_metadata={"finish_reason": "content_filter"}), "content_filter"),
        (AIMessage(GOOD, response_metadata={"stop_reason": "refusal"}), "refusal"),
        (AIMessage(GOOD, response_metadata={"stopReason": "guardrail_intervened"}), "guardrail_intervened"),
        (AIMessage(GOOD, response_metadata={"prompt_feedback": {"block_reason": 1}}), "prompt"),
        (AIMessage(GOOD, additional_kwargs={"refusal": "I cannot."}), "refused"),
        (AIMessage([{"type": "refusal", "refusal": "No."}]), "refused"),
        (AIMessage([{"type": "non_standard", "value": {"refusal": "No."}}]), "refused"),
    ]:
        with subtests.test(reply=reply):
            error = failure(replying(reply)[0])
            assert error.kind == "blocked"
            assert said in str(error)
            assert error.usage["input_tokens"] == 100


def test_a_reply_that_the_provider_did_not_finish_is_asked_for_once_more():
    unfinished = AIMessage(GOOD, response_metadata={"finish_reason": "insufficient_system_resource"})
    with pytest.raises(ModelUnavailableError, match="insufficient_system_resource"):
        replying(*[unfinished] * 4, transport_retry=AT_ONCE)[0].judge(request())
    assert replying(unfinished, REPLY, transport_retry=AT_ONCE)[0].judge(request())["score"] == 4.5


def test_a_request_that_the_provider_filtered_is_blocked(subtests):
    for error in [
        ServerError(400, "The response was filtered: Azure's content management policy"),
        ServerError(400, "{'error': {'code': 'content_filter'}} unsupported"),
    ]:
        with subtests.test(error=error):
            assert failure(replying(error)[0]).kind == "blocked"


def test_a_reply_without_an_object_is_malformed_and_says_what_it_cost(subtests):
    for reply in [
        "I like it.",
        "[]",
        AIMessage("", tool_calls=[{"name": "judge_answer", "args": REPLY, "id": n} for n in "12"]),
        AIMessage("", response_metadata={"finish_reason": "length"}),
        AIMessage(json.dumps(REPLY)[:-1], response_metadata={"finish_reason": "length"}),
    ]:
        with subtests.test(reply=reply):
            error = failure(replying(reply, reply)[0])
            assert (error.kind, error.usage["calls"], error.usage["output_tokens"]) == ("malformed", 2, 40)


def test_an_answer_that_cannot_be_relied_on_is_told_by_its_kind(subtests):
    for change, kind in [
        ({"criteria": {"clarity": 3}}, "missing_score"),
        ({"criteria": None}, "missing_score"),
        ({"criteria": {"clarity": 3, "warmth": 10**400}}, "malformed"),
        ({"criteria": {"clarity": 0, "warmth": 5}}, "out_of_range"),
        ({"rationale": None}, "missing_rationale"),
    ]:
        with subtests.test(change=change):
            reply = {**REPLY, **change, "score": 5}
            error = failure(replying(reply, reply)[0])
            assert (error.kind, error.usage["input_tokens"]) == (kind, 200)


async def test_a_reply_that_cannot_be_used_is_asked_for_once_more_with_the_problem(subtests):
    for first, problem in [
        (f"I think so: {json.dumps(REPLY)}", "not one JSON object alone"),
        ({**REPLY, "verdict": "fail"}, "'verdict' is 'fail'"),
        (AIMessage("", response_metadata={"finish_reason": "length"}), "no JSON object"),
    ]:
        with subtests.test(first=first):
            judge, llm = replying(first, REPLY)
            answer = await judge.ajudge(request())
            assert (answer["score"], answer["usage"]["calls"]) == (4.5, 2)
            assert problem in llm.prompts[1][-1].text
            assert [message.type for message in llm.prompts[1]] == ["system", "human", "ai", "human"]


def test_a_lone_end_of_thoughts_that_the_run_contains_ends_no_thoughts():
    reply = f"I think so.</think>{json.dumps(REPLY)}"
    assert replying(reply)[0].judge(request())["score"] == 4.5
    with pytest.raises(JudgeError, match="alone"):
        replying(reply, reply)[0].judge(request("</THINK>"))


def test_a_run_that_cannot_be_shown_whole_is_not_judged(subtests):
    turn = {"role": "user", "content": "What is this?", "media": ["image_url"]}
    for asked, told, kind in [
        (request(conversation=(turn,)), "image_url", "partly_seen"),
        (request("x" * 5000), "max_characters is 5000", "provider_failure"),
    ]:
        judge, llm = replying(REPLY, max_characters=5000)
        with subtests.test(told), pytest.raises(JudgeError, match=told) as raised:
            judge.judge(asked)
        assert (raised.value.kind, llm.prompts) == (kind, [])


def test_what_makes_no_judge_is_refused(subtests):
    for llm, options, said in [
        ("gpt", {}, "llm is a str"),
        (ScriptedChatModel([]), {"max_characters": 0}, "at least 1"),
    ]:
        with subtests.test(llm=llm), pytest.raises(ContractError, match=said):
            RubricJudge(llm, **options)


def test_an_openai_model_is_held_to_the_schema():
    reply = ModelReply(json.dumps(REPLY), usage=(7, 3), model="m-2025")
    with serve_model(reply) as (model, server):
        judged = RubricJudge(model).judge(request())
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["required"][:2] == ["rationale", "criteria"]
    usage = {"input_tokens": 7, "output_tokens": 3, "model": "m-2025"}
    assert (judged["score"], judged["usage"]) == (4.5, usage)


def test_a_key_that_the_provider_echoes_is_not_told():
    with serve_model(refuse(f"wrong key {KEY}", 401), api_key=KEY) as (model, _):
        error = failure(RubricJudge(model))
    assert (error.kind, KEY in str(error)) == ("provider_failure", False)
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_a_real_model_gives_a_valid_score(embedded_llm: BaseChatModel):
    rubric = Rubric(criteria=[Criterion(name="clarity", description="Is it clear?")])
    asked = request("Your order 12345 is in transit.", rubric=rubric)
    answer = RubricJudge(embedded_llm).judge(asked)
    assert isinstance(read_judge_result(answer, rubric), JudgeScore)
    assert answer["usage"]["output_tokens"] > 0
