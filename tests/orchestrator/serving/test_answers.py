import asyncio

from langgraph.types import interrupt

from tests.fakes.acting import approve
from tests.fakes.runs import call
from tests.orchestrator.serving.conftest import GOOD, Elsewhere, invite, send


async def ask_about_tool(build, *names, thread="asking", **options):
    orchestrator = build(*invite(*names), tools=[send], acting_tools=approve("send"), **options)
    await orchestrator.arun("Invite them", thread)
    return orchestrator


async def read_question(client):
    return (await client.get("/api/questions")).json()[0]["question"]


async def wait_until(client, status, thread="asking"):
    for _ in range(400):
        run = (await client.get(f"/api/runs/{thread}")).json()
        if run["status"] == status:
            return run
        await asyncio.sleep(0.025)
    raise AssertionError(run["status"])


async def give(client, word, text="", thread="asking", **fields):
    question = (await read_question(client))["id"]
    body = {"question": question, "answer": word, "text": text, "answered_by": "Ada", **fields}
    return await client.post(f"/api/runs/{thread}/answers", json=body)


async def test_the_inbox_has_the_open_questions_the_oldest_first(build, serve):
    await ask_about_tool(build, "Ada", thread="first")
    client = await serve(await ask_about_tool(build, "Bob", thread="second"))

    questions = (await client.get("/api/questions")).json()
    page = (await client.get("/")).text

    assert [each["thread_id"] for each in questions] == ["first", "second"]
    assert page.index("thread_id=first") < page.index("thread_id=second")
    assert "May the tool send run?" in page
    assert "Ada" in page
    assert page.count('value="approve"') == 2


async def test_a_person_sees_hidden_characters_by_their_codes_and_can_answer(build, serve):
    name = "as\u200bking"
    client = await serve(await ask_about_tool(build, "Ann\u202e\u200b\U000e0041", thread=name))

    page = (await client.get("/")).text

    assert "Ann[U+202E][U+200B][U+E0041]" in page
    assert not {"\u202e", "\U000e0041"} & set(page)
    assert f'name="thread_id" value="{name}"' in page


async def test_an_answer_about_a_call_is_kept_with_its_author(build, serve, subtests):
    answers = [("approve", "", "success"), ("deny", "no", "success"), ("halt", "enough", "failed")]
    for word, text, status in answers:
        with subtests.test(word=word):
            client = await serve(await ask_about_tool(build, "Bob", thread=word))

            answer = await give(client, word, text, thread=word)
            state = (await wait_until(client, status, word))["state"]

            assert answer.status_code == 202
            if word == "halt":
                assert state["failure"]["message"] == "step 1: denied by Ada: enough"
                continue
            given = state["results"][0]["tool_calls"][0]["answer"]
            assert (given["answered_by"], given["answer"], bool(given["answered_at"])) == ("Ada", word, True)
            assert "<strong>Ada</strong> answered" in (await client.get(f"/run?thread_id={word}")).text


async def test_the_form_of_the_inbox_answers(build, serve):
    client = await serve(await ask_about_tool(build, "Bob"))
    question = (await read_question(client))["id"]
    fields = {"thread_id": "asking", "question": question, "answer": "approve", "answered_by": "Zoë; x"}

    answer = await client.send_form("/answer", **fields, text="")
    await wait_until(client, "success")

    assert (answer.status_code, answer.headers["location"]) == (303, "/run?thread_id=asking")
    assert "No run waits" in (await client.get("/")).text
    await ask_about_tool(build, "Bob", thread="next")


async def test_of_two_answers_at_once_one_wins_and_the_other_is_told(build, serve):
    client = await serve(await ask_about_tool(build, "Bob"))
    question = (await read_question(client))["id"]
    bodies = [{"question": question, "answer": "deny", "text": name, "answered_by": name} for name in "abcde"]

    answers = await asyncio.gather(*(client.post("/api/runs/asking/answers", json=body) for body in bodies))
    run = await wait_until(client, "success")

    assert sorted(answer.status_code for answer in answers) == [202, 409, 409, 409, 409]
    winner = bodies[[answer.status_code for answer in answers].index(202)]["answered_by"]
    assert run["state"]["results"][0]["tool_calls"][0]["answer"]["answered_by"] == winner


async def test_an_answer_to_a_closed_question_is_told_who_answered(build, serve):
    client = await serve(await ask_about_tool(build, "Bob"))
    question = (await read_question(client))["id"]
    await give(client, "approve")
    await wait_until(client, "success")

    late = await client.post("/api/runs/asking/answers", json={"question": question, "answer": "approve"})

    assert late.status_code == 409
    assert late.json()["detail"] == "the question is closed: the run no longer waits for this answer"


BAD_ANSWERS = [
    (422, {"answer": "correct", "text": "x"}),
    (422, {"answer": "deny", "text": ""}),
    (422, {"answer": "perhaps"}),
    (422, {}),
    (422, {"answer": "approve", "extra": 1}),
    (422, {"answer": "deny", "text": "x" * 30_000}),
    (413, {"answer": "deny", "text": "x" * 1_000_000}),
]


async def test_an_answer_that_is_not_accepted_changes_nothing(build, serve, subtests):
    client = await serve(await ask_about_tool(build, "Bob"))
    question = (await read_question(client))["id"]
    for status, fields in BAD_ANSWERS:
        with subtests.test(fields=str(fields)[:50]):
            answer = await client.post("/api/runs/asking/answers", json={"question": question, **fields})

            assert answer.status_code == status
            assert answer.headers["content-type"] == "application/problem+json"
            assert len(answer.json()["detail"]) < 1000
            assert (await read_question(client))["id"] == question


async def test_a_run_that_cannot_be_rebuilt_here_names_the_command(build, serve):
    client = await serve(Elsewhere(await ask_about_tool(build, "Bob")))

    page, answer = (await client.get("/")).text, await give(client, "approve")

    assert "its tools are missing" in page
    assert "orchestrator resume asking" in page
    assert "Approve" not in page
    assert answer.status_code == 409
    assert "orchestrator resume asking" in answer.json()["detail"]


async def test_the_question_of_a_tool_takes_any_value(build, serve):
    def ask(subject: str) -> str:
        """Ask a person."""
        return str(interrupt(f"What about {subject}?"))

    orchestrator = build('{"plan": ["Ask"]}', call("ask", subject="tea"), "Green tea.", GOOD, tools=[ask])
    await orchestrator.arun("Ask about tea", "asking")
    client = await serve(orchestrator)
    question = (await read_question(client))["id"]

    answer = await client.send_form("/answer", thread_id="asking", question=question, text="green")
    run = await wait_until(client, "success")

    assert answer.status_code == 303
    assert run["state"]["results"][0]["tool_calls"][0]["result"] == "green"
