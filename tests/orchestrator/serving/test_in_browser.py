"""The pages as people use them: at 375 pixels, with the keyboard, in light and dark, with hostile texts."""

import json
import re
import threading
import time

import pytest
import uvicorn

from orchestrator.serving import OneOrchestrator, ServerOptions, build_app
from orchestrator.serving.web_app import PageServer
from tests.fakes.acting import approve
from tests.fakes.chromium import open_chromium
from tests.fakes.gated_replies import GatedReplies
from tests.fakes.runs import call
from tests.orchestrator.serving.conftest import GOOD, invite, send

HOSTILE = (
    "<script>window.owned=1</script><img src=x onerror='window.owned=1'>\"'> {{7*7}} javascript:alert(1)"
)
BAD = json.dumps({"success": False, "feedback": HOSTILE})
PHONE = {"width": 375, "height": 740}


@pytest.fixture(scope="module")
def browser():
    with open_chromium() as opened:
        yield opened


class ThreadServer:
    def __init__(self, store, orchestrator, port=0):
        app = build_app(store, OneOrchestrator(orchestrator), ServerOptions())
        config = uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
        self.server = PageServer(config, app.state.service)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        deadline = time.monotonic() + 20
        while not self.server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def stop(self):
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture
def serve_pages(store, build):
    """Serve an orchestrator after some runs: `address = serve_pages(replies, runs, **options)`."""
    servers = []

    def start(replies, before=(), port=0, **options):
        for task, thread, script, given in before:
            build(*script, **given).run(task, thread)
        script = [replies] if callable(replies) else replies
        servers.append(ThreadServer(store, build(*script, **options), port))
        return f"http://127.0.0.1:{servers[-1].port}"

    def restart():
        servers[-1].stop()
        return start([], port=servers[-1].port)

    start.restart = restart
    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def open_page(browser):
    """Open an address in a new window; ``page.problems`` has what its console and scripts say."""
    opened = []

    def visit(address, viewport=PHONE, scheme="light"):
        page = browser.new_page(viewport=viewport, color_scheme=scheme)
        opened.append(page)
        page.problems = []
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda message: page.problems.append(message.text))
        page.on("dialog", lambda dialog: page.problems.append(dialog.message))
        page.goto(address)
        return page

    yield visit
    for page in opened:
        page.close()


ASKING = {"tools": [send], "acting_tools": approve("send")}
FINISHED = ("Greet the world", "good", ['{"plan": ["Greet"]}', "Hello", GOOD], {})
FAILED = ("Shout loudly", "bad", ['{"plan": ["Shout"]}', *["Hi", BAD] * 3], {})
WAITING = ("Invite Ada", "asking", invite("Ada"), ASKING)


@pytest.fixture
def three_runs(serve_pages):
    return serve_pages(["They are invited.", *[GOOD] * 3], [FINISHED, FAILED, WAITING], **ASKING)


def test_a_question_is_answered_on_a_phone(three_runs, open_page):
    page = open_page(three_runs)

    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url("**/run?thread_id=asking")
    page.get_by_text("success, unverified").wait_for()
    page.locator("#attempt-1-1 summary").click()

    assert page.get_by_text("Ada answered").is_visible()
    assert page.problems == []


@pytest.mark.thorough
def test_a_refused_answer_is_told_beside_the_text_that_was_typed(three_runs, open_page):
    page = open_page(three_runs)

    page.get_by_role("button", name="Deny").click()
    page.get_by_role("alert").wait_for()

    assert "has no 'text'" in page.get_by_role("alert").inner_text()
    page.get_by_label("Reason").fill("Not on a Friday")
    page.get_by_role("button", name="Deny").click()
    page.wait_for_url("**/run?thread_id=asking")


@pytest.mark.thorough
def test_filters_change_the_list_and_the_address_without_loading_the_page(three_runs, open_page):
    page = open_page(f"{three_runs}/runs")
    page.evaluate("window.isSame = true")

    page.get_by_label("Status", exact=False).first.select_option("failed")
    page.wait_for_url(re.compile("status=failed"))
    page.locator(".row").nth(1).wait_for(state="detached")

    assert page.locator(".row").inner_text().count("Shout loudly") == 1
    assert page.evaluate("window.isSame")
    page.get_by_label("Text of the task").fill("nothing has this text")
    page.get_by_label("Text of the task").press("Enter")
    page.get_by_text("No run matches.").wait_for()
    assert page.problems == []


@pytest.mark.thorough
def test_a_run_is_started_and_followed_without_loading_the_page_or_closing_what_was_opened(
    serve_pages, open_page
):
    replies = ["Good day", GOOD, "Hello", GOOD, "Good day. Hello.", GOOD]
    gate = GatedReplies('{"plan": ["Greet", "Part"]}', *replies)
    page = open_page(f"{serve_pages(gate)}/start")

    page.get_by_label("Task").fill("Be polite")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/run?thread_id=*")
    page.get_by_text("plan: 2 steps").wait_for()
    page.get_by_role("heading", name="1. Greet").wait_for()
    page.locator("#attempt-1-1 summary").click()
    page.get_by_label("Output").first.wait_for()
    page.evaluate("window.isSame = true")
    gate.opened.set()
    page.get_by_text("the run ended: success").wait_for()
    page.get_by_role("heading", name="Result").wait_for()

    assert page.evaluate("window.isSame")
    assert page.locator("#attempt-1-1").get_attribute("open") is not None
    assert page.locator("#events li").count() == len(set(page.locator("#events li").all_inner_texts()))
    assert page.problems == []


@pytest.mark.thorough
def test_after_a_restart_of_the_server_the_events_are_listed_once(serve_pages, open_page):
    page = open_page(f"{serve_pages([], [WAITING], **ASKING)}/run?thread_id=asking")
    page.get_by_text("the run waits for an answer").wait_for()
    before = page.locator("#events li").all_inner_texts()
    page.evaluate("document.querySelectorAll('#events li').forEach(each => each.className = 'old')")

    serve_pages.restart()
    page.locator("#events:not(:has(.old))").wait_for()
    page.get_by_text("the run waits for an answer").wait_for()

    assert page.locator("#events li").all_inner_texts() == before


def hostile_runs():
    plan = json.dumps({"plan": [HOSTILE]})
    yield HOSTILE, HOSTILE, [plan, *[HOSTILE, BAD] * 3], {}
    yield HOSTILE, f"{HOSTILE} 2", [plan, call("send", to=HOSTILE)], ASKING


def test_hostile_text_is_shown_as_text_and_does_not_run(serve_pages, open_page):
    address = serve_pages([HOSTILE, *[BAD, HOSTILE] * 3], hostile_runs(), **ASKING)
    page = open_page(address)

    assert page.get_by_role("heading", name=HOSTILE).is_visible()
    page.get_by_label("Your name").fill(HOSTILE)
    page.get_by_label("Reason").fill(HOSTILE)
    page.get_by_role("button", name="Deny").click()
    page.get_by_text("the run ended: failed").wait_for()
    for path in ("/runs", "/runs?status=failed", "/start", "/"):
        page.goto(f"{address}{path}")
    page.goto(f"{address}/runs")
    page.locator(".row").last.click()
    page.get_by_text("the run ended: failed").wait_for()
    for summary in page.locator("#run summary").all():
        summary.click()

    assert page.evaluate("window.owned === undefined")
    assert page.get_by_text(HOSTILE).count() > 3
    assert page.problems == []


@pytest.mark.thorough
def test_a_question_is_answered_with_the_keyboard_alone(three_runs, open_page):
    page = open_page(three_runs)
    focused = []

    while not focused or focused[-1] != "Approve":
        page.keyboard.press("Tab")
        focused.append(page.evaluate("document.activeElement.innerText || document.activeElement.name"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", focused
        assert len(focused) < 30
    page.keyboard.press("Enter")
    page.wait_for_url("**/run?thread_id=asking")

    assert focused[0] == "Skip to the content"
    assert focused[1:4] == ["Inbox", "Runs", "Start"]


MAIN_PAGES = ("/", "/runs", "/run?thread_id=asking")
OTHER_PAGES = (*("/start", "/run?thread_id=none"), *("/run?thread_id=good", "/run?thread_id=bad"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("width", "scheme", "paths"),
    [
        (375, "dark", MAIN_PAGES),
        pytest.param(375, "dark", OTHER_PAGES, marks=pytest.mark.soak),
        pytest.param(1200, "light", (*MAIN_PAGES, *OTHER_PAGES), marks=pytest.mark.soak),
    ],
)
def test_the_pages_have_no_violation_of_accessibility_and_fit_their_width(
    three_runs, open_page, width, scheme, paths
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for path in paths:
        page = open_page(f"{three_runs}{path}", {"width": width, "height": 800}, scheme)
        for summary in page.locator("#run summary").all():
            summary.click()
        found = axe.run(page)

        assert [each["id"] for each in found.response["violations"]] == [], found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        page.close()
