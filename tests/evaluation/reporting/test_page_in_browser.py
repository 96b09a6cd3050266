"""The report as people use it: in a browser, from disk, with the keyboard, in light and in dark."""

import pytest

from evaluation.reporting.case_page import render_results
from evaluation.texts.normal import show_hidden
from tests.evaluation.reporting.results import compared_results, evaluate_result, notice, stored
from tests.fakes.chromium import open_chromium

HOSTILE = (
    "</script><script>window.owned=1</script><!-- <img src=x onerror='window.owned=1'>\u2028"
    '<svg onload="window.owned=1"> javascript:window.owned=1 " \' ` ${window.owned=1} {{ 7*7 }}'
)
CASES = "#list > li"


@pytest.fixture(scope="module")
def browser():
    with open_chromium() as opened:
        yield opened


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens HTML from a file: ``page.problems`` has what its console says, ``page.requests`` its requests."""
    opened = []

    def write_and_open(html, width=1200, scheme="light"):
        (tmp_path / "report.html").write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        opened.append(page)
        page.problems, page.requests = [], []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda message: page.problems.append(message.text))
        page.on("dialog", lambda dialog: page.problems.append(dialog.message))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto((tmp_path / "report.html").as_uri())
        return page

    yield write_and_open
    for page in opened:
        page.close()


@pytest.fixture
def compared(open_page):
    """The page of a comparison of two models with two trials of three cases."""
    page = open_page(render_results(compared_results()))
    page.wait_for_selector(CASES)
    return page


def open_case(page, number=0):
    page.locator(f"{CASES} > h3 > button").nth(number).click()
    return page.locator(CASES).nth(number)


def poison(value):
    """Replaces every text of a JSON value, and adds a field whose name is hostile."""
    if isinstance(value, dict):
        return {**{name: poison(each) for name, each in value.items()}, HOSTILE: HOSTILE}
    if isinstance(value, list):
        return [poison(each) for each in value]
    return HOSTILE if isinstance(value, str) else value


def hostile_results():
    """Results with a hostile text in every field, in every text of their data, and with empty data."""
    result = evaluate_result(notice(HOSTILE, branch=HOSTILE, as_messages=True))
    poisoned = {name: poison(getattr(result, name)) for name in ("agent_run", "expected", "report")}
    names = {"name": HOSTILE, "task": HOSTILE, "reasons": (HOSTILE,)}
    yield result.model_copy(update={**names, "arm": HOSTILE})
    yield result.model_copy(update={**names, "arm": f"{HOSTILE} 2", **poisoned})
    yield stored("bare", "invalid")


def test_hostile_text_in_every_field_is_shown_as_text_and_does_not_run(open_page):
    page = open_page(render_results(list(hostile_results()), HOSTILE))
    page.wait_for_selector(CASES)
    item = open_case(page)
    for attempt in range(2):
        item.locator(".picker button").nth(attempt).click()
        for closed in item.locator("details > summary").all():
            closed.click()

    assert page.evaluate("window.owned") is None
    assert page.locator("img, iframe, object, svg[onload]").count() == 0
    assert page.locator("#title").text_content() == show_hidden(HOSTILE)
    assert show_hidden(HOSTILE) in item.text_content()
    assert page.problems == []


@pytest.mark.thorough
def test_the_page_runs_no_added_script_and_makes_no_request_but_for_itself(compared):
    open_case(compared)
    assert [url.rsplit("/", 1)[-1] for url in compared.requests] == ["report.html"]
    assert compared.problems == []
    compared.evaluate("""() => {
        const script = document.createElement("script");
        try { script.textContent = "window.owned = 1"; } catch { }
        document.body.append(script);
    }""")
    assert compared.evaluate("window.owned") is None


def count_cases(page, text):
    page.get_by_text(text, exact=True).wait_for()
    return page.locator(CASES).count()


def test_a_choice_leaves_its_cases(compared, subtests):
    for label, option, left in [
        ("Rests on", "unverified", 2),
        ("Model or policy", "qwen3", 3),
        ("Verdict changes", "between models or policies", 2),
        ("Verdict changes", "between trials", 1),
    ]:
        with subtests.test(label=label, option=option):
            compared.get_by_label(label).select_option(label=option)
            assert compared.locator(CASES).count() == left
            compared.get_by_label(label).select_option(index=0)
            assert compared.locator(CASES).count() == 3


@pytest.mark.thorough
def test_a_text_a_reason_to_look_at_first_and_filters_of_one_run_leave_their_cases(compared):
    compared.get_by_label("Text").fill("NOTICE 2")
    assert count_cases(compared, "1 of 3 cases") == 1
    compared.get_by_label("Text").fill("")
    count_cases(compared, "3 cases")
    compared.locator(".first button").first.click()
    assert compared.locator(CASES).count() == 2
    compared.get_by_label("Model or policy").select_option(label="local")
    assert count_cases(compared, "0 of 3 cases") == 0


@pytest.mark.thorough
def test_a_case_shows_its_requirement_and_the_expected_action_beside_the_actual_one(compared):
    case = open_case(compared)
    text, sides = case.locator(".requirements").inner_text(), case.locator(".sides .side")
    assert "at most 8 words" in text.split("from the words")[1]
    told = ("use at most 8 words", "the text has 5 words", "every attempt")
    assert [part for part in told if part not in text] == []
    assert sides.nth(0).locator("dd").all_inner_texts() == ["north", "12"]
    assert sides.nth(1).locator("dd").all_inner_texts() == ["main", "12"]


@pytest.mark.thorough
def test_the_models_are_drawn_with_their_intervals_and_listed(compared):
    for figure in ("arms", "latency", "repeats"):
        compared.wait_for_selector(f"figure.{figure} svg[role=img] circle")
    table = compared.locator("#comparison table").inner_text()

    assert "pass^2" in table
    assert "100.0 % (29 % to 100 %)" in table


def find_violations(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    found = axe.run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["target"], each["nodes"][0]["failureSummary"]) for each in found]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 375), pytest.param("dark", 1200, marks=pytest.mark.soak)]
)
def test_axe_finds_no_violation(open_page, scheme, width):
    page = open_page(render_results([*compared_results(), *hostile_results()]), width, scheme)
    page.wait_for_selector(CASES)
    for number in range(4):
        item = open_case(page, number)
        for closed in item.locator("details > summary").all():
            closed.click()

    assert find_violations(page) == []


@pytest.mark.thorough
def test_nothing_is_wider_than_a_narrow_screen(open_page):
    page = open_page(render_results([*compared_results(), *hostile_results()]), 375)
    page.wait_for_selector(CASES)
    for number in range(4):
        open_case(page, number)

    assert page.evaluate("document.documentElement.scrollWidth") <= 375


@pytest.mark.thorough
def test_the_first_key_skips_to_the_cases(compared):
    compared.keyboard.press("Tab")
    compared.keyboard.press("Enter")

    assert compared.evaluate("document.activeElement.id") == "cases"


@pytest.mark.thorough
def test_the_keyboard_reaches_every_control_in_order_and_shows_where_it_is(compared):
    compared.locator(f"{CASES} > h3 > button").first.focus()
    compared.keyboard.press("Enter")  # opens the case
    count = compared.evaluate("""() => {
        const all = "a, button, input, select, summary, pre, [tabindex='0']";
        window.controls = [...document.querySelectorAll(all)].filter((each) => each.checkVisibility());
        window.controls[0].focus();
        return window.controls.length;
    }""")
    reached = []
    for _ in range(count):
        reached.append(
            compared.evaluate("""() => [
                window.controls.indexOf(document.activeElement),
                getComputedStyle(document.activeElement).outlineStyle,
            ]""")
        )
        compared.keyboard.press("Tab")

    assert count >= 20
    assert [place for place, _ in reached] == [*range(count)]
    assert {outline for _, outline in reached} == {"solid"}


@pytest.mark.soak
def test_a_thousand_cases_are_drawn_in_parts_and_filtered_at_once(open_page):
    page = open_page(render_results([stored(f"case {each}") for each in range(1000)]))
    page.wait_for_selector(CASES)
    assert page.locator(CASES).count() == 200

    page.get_by_role("button", name="Show 200 more").click()
    assert page.locator(CASES).count() == 400

    page.get_by_label("Text").fill("case 999")
    assert count_cases(page, "1 of 1,000 cases") == 1


def share(value):
    return {"value": value, "low": value - 0.1, "high": value + 0.1}


def describe_worth(arm):
    point = {"tasks": 9, "right": share(0.4), "wrong": share(0.1), "none": share(0.5), "value": share(0.3)}
    point |= {"attempts": 1.5, "tokens": 100, "cost_usd": None}
    told = {"recommendation": {"sentence": f"Use up to 2 attempts. {arm}"}, "guarantee": None}
    return {"arm": arm, "points": [{**point, "k": 1}, {**point, "k": 2}], "sentences": [arm], **told}


@pytest.mark.thorough
def test_the_worth_of_attempts_is_drawn_with_its_sentences_and_runs_no_text(open_page):
    page = open_page(render_results([], "Worth", [describe_worth("small"), describe_worth(HOSTILE)]), 375)
    for figure in ("worth", "acceptances"):
        page.wait_for_selector(f"figure.{figure} svg[role=img]")
    text = page.locator("#worth").inner_text()

    assert "Use up to 2 attempts. small" in text
    assert "+0.300 (+0.200 to +0.400)" in text
    assert "right 40 %" in page.locator("figure.acceptances").first.text_content()
    assert (page.problems, page.evaluate("window.owned"), find_violations(page)) == ([], None, [])
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
