import json

from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.model_text import BOM, FENCE, LONG, any_text, plan_of, slow

NO_PLAN = None
WHOLE = "the whole reply as one step"

PLANS: list[tuple[str, str, object]] = [
    # Objects.
    ("plan", '{"plan": ["a b", "c d"]}', ["a b", "c d"]),
    ("empty steps", '{"plan": ["a", "", "  ", "b"]}', ["a", "b"]),
    ("steps with a number and a description", '{"plan": [{"step": 1, "description": "a"}]}', ["a"]),
    ("steps with a step", '{"steps": [{"step": "a", "note": "n"}]}', ["a"]),
    ("a title before the details", '{"plan": [{"details": "b", "title": "a"}]}', ["a"]),
    ("a number as text beside an action", '[{"step": "1", "action": "do x"}]', ["do x"]),
    ("the word step with a number", '[{"title": "Step 1:", "action": "do x"}]', ["do x"]),
    ("another key", '{"plan": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}', ["a", "b"]),
    ("a key of another language", '[{"nr": "1", "schritt": "a"}]', ["a"]),
    ("two unknown keys", '[{"schritt": "a", "werkzeug": "b"}]', ["task"]),
    ("an empty text before an action", '[{"description": "", "action": "do x"}]', ["do x"]),
    ("a step that begins with a number", '[{"step": "1 egg", "action": "do x"}]', ["1 egg"]),
    ("a plan in a plan", '{"plan": {"steps": ["a", "b"]}}', ["a", "b"]),
    ("numbered entries", '{"plan": {"1": "a", "2": "b"}}', ["a", "b"]),
    ("the plan as one text", '{"plan": "write it"}', ["write it"]),
    ("the plan as a numbered text", '{"plan": "1. a\\n2. b"}', ["a", "b"]),
    ("an empty plan object", '{"plan": {}}', []),
    ("JSON in a step", '{"plan": ["send {\\"plan\\": []}"]}', ['send {"plan": []}']),
    ("a raw line break in a step", '{"plan": ["a\nb"]}', ["a\nb"]),
    ("half a surrogate pair", '{"plan": ["a\\udc00"]}', ["a\ufffd"]),
    ("equal steps in a row", '{"plan": ["Do it.", "do  it", "b", "Do it."]}', ["Do it.", "b", "Do it."]),
    ("steps that differ in a sign", '["x + 1", "x - 1"]', ["x + 1", "x - 1"]),
    ("a key twice", '{"plan": ["a"], "plan": ["b"]}', NO_PLAN),
    ("a key twice in two cases", '{"plan": ["a"], "Plan": ["a"]}', NO_PLAN),
    ("both keys, and different plans", '{"plan": ["a"], "steps": ["b"]}', NO_PLAN),
    ("both keys, and one plan", '{"plan": ["a"], "steps": ["a"]}', ["a"]),
    ("a title and steps", '{"plan": "Trip", "steps": ["a", "b"]}', ["a", "b"]),
    ("a plan and the number of its steps", '{"plan": ["a"], "steps": 1}', ["a"]),
    ("entries of other names", '{"plan": {"draft": "a", "final": "b"}}', ["task"]),
    ("a key escaped", '{"\\u0070lan": ["a"]}', ["a"]),
    # Around the object.
    ("a json fence", f'{FENCE}json\n{{"plan": ["a"]}}\n{FENCE}', ["a"]),
    ("a fenced list in prose", f'Sure:\n{FENCE}json\n["a", "b"]\n{FENCE}\nEnjoy!', ["a", "b"]),
    ("prose before", 'The plan is {"plan": ["a"]}', ["a"]),
    ("a list before the plan", 'Inputs: ["x"]. {"plan": ["a"]}', ["a"]),
    ("a byte order mark", BOM + '{"plan": ["a"]}', ["a"]),
    ("a closed thought", '<think>["x"]</think>{"plan": ["a"]}', ["a"]),
    ("a thought that only ends", 'so 1. x\n</think>\n{"plan": ["a"]}', ["a"]),
    ("a thought that never ends", '<think>{"plan": ["a"]}', []),
    # Lists.
    ("a bare list of objects", '[{"title": "a"}, {"objective": "b"}]', ["a", "b"]),
    # Other spellings, and what is broken.
    ("single quotes", "{'plan': ['a', 'it\\'s b']}", ["a", "it's b"]),
    ("comments", '{"plan": ["a", // first\n"b"] # done\n}', ["a", "b"]),
    ("a comma too many", "{'plan': ['a', 'b',], } // done", ["a", "b"]),
    ("Python's names", "{'plan': ['a'], 'done': True, 'note': None}", ["a"]),
    # What only a guess could read.
    ("a missing comma", '{"plan": ["a" "b"]}', NO_PLAN),
    ("no quotes", "{plan: [Do a, Do b]}", NO_PLAN),
    ("an ellipsis as a text", '{"plan": ["a", "...", "b"]}', NO_PLAN),
    ("an ellipsis in a comment", '{"plan": ["a", // ... and so on\n"b"]}', NO_PLAN),
    ("a number as a step", '["a", "2."]', NO_PLAN),
    ("a numbered step without words", '["Step 1: a", "Step 2:"]', NO_PLAN),
    ("a broken object and a plan", '{"plan": "a" "b"} {"plan": ["a"]}', NO_PLAN),
    ("a broken object in a step", "1. Write {'a': x}\n2. b", NO_PLAN),
    ("backslashes that are not escaped", r'{"plan": ["Read C:\Users\new"]}', [r"Read C:\Users\new"]),
    ("a path of valid escapes", r'{"plan": ["Read c:\new\table.txt"]}', [r"Read c:\new\table.txt"]),
    ("a pattern", r'{"plan": ["Match \d+ and \"x\""]}', [r'Match \d+ and "x"']),
    # JSON without its end, and several plans, are none.
    ("cut within a step", '{"plan": ["a", "writ', NO_PLAN),
    ("cut in a fence", f'{FENCE}json\n{{"plan": ["a", "b\n{FENCE}', NO_PLAN),
    ("closed with the wrong bracket", '{"plan": ["a", "b"}', NO_PLAN),
    ("a plan and a cut one", '{"plan": ["a"]} Better: {"plan": ["b", "c', NO_PLAN),
    ("cut over lines", "[\n  Do a,\n  Delete /data", NO_PLAN),
    ("a plan and one that is cut without quotes", '{"plan": ["a"]} Better: [Do b, Del', NO_PLAN),
    ("a cut object in a list", '1. a\n2. write {"x": "/da', NO_PLAN),
    ("cut after a number without its dot", "1. a\n2. b\n3", NO_PLAN),
    ("cut after a bold number", "**1.** a\n**2.**", NO_PLAN),
    ("cut after a heading without its colon", "Schritt 1: a\nSchritt 2: b\nSchritt 3", NO_PLAN),
    ("cut after a bullet", "- a\n- b\n-", NO_PLAN),
    ("cut after a bullet below", "1. a\n   -", NO_PLAN),
    ("a number without a step in the middle", "1. a\n2.\n3. c", NO_PLAN),
    ("an ellipsis in a list", "1. a\n2. ...\n9. z", NO_PLAN),
    ("an answer that is a number", "The answer is\n42", WHOLE),
    # A draft is no plan, and of several plans only the last may be marked.
    ("a draft and a plan", 'Draft: {"plan": ["a"]} Better: {"plan": ["b", "c"]}', NO_PLAN),
    ("a draft alone", 'Here is a first draft of the plan:\n{"plan": ["a"]}', NO_PLAN),
    ("a draft in another language", 'Entwurf: {"plan": ["a"]}', NO_PLAN),
    ("a list that is a draft", "**Draft plan:**\n\n1. a\n2. b", NO_PLAN),
    ("a remark after a draft", '{"plan": ["a"]}\nThis is only a draft.', NO_PLAN),
    ("not yet final", 'Not yet the final plan: {"plan": ["a"]}', NO_PLAN),
    ("a plan for a draft", "The plan to write a first draft:\n1. Draft it\n2. b", ["Draft it", "b"]),
    ("a final plan and another one", 'Final plan: {"plan": ["a"]} Or: {"plan": ["b"]}', NO_PLAN),
    ("an object that is complete", '{"plan": ["a"], "status": "complete", "draft": false}', ["a"]),
    ("states of steps", '{"plan": [{"task": "a", "status": "incomplete"}]}', ["a"]),
    ("a revised list", "First draft:\n1. a\n2. b\n\nRevised plan:\n1. c", NO_PLAN),
    ("a second list of bullets", "- a\n- b\n\nNotes:\n- c", NO_PLAN),
    ("lists in two parts", "Phase one\n1. a\n2. b\n\nPhase two\n1. c", NO_PLAN),
    ("lists in other digits", "一、打开\n二、读取\n或者\n一、删除", NO_PLAN),
    ("a list and a list in JSON", '1. a\n2. b\n["c"]', NO_PLAN),
    ("a list in parts that counts on", "A\n1. a\n2. b\n\nB\n3. c", ["a", "b", "c"]),
    ("a list that always says one", "1. a\n1. b\n1. c", ["a", "b", "c"]),
    ("a list below a step", "1. a\n   1. x\n   2. y\n2. b", ["a", "x", "y", "b"]),
    ("two lists", 'Either ["a"] or ["b"].', NO_PLAN),
    ("a plan that is repeated", '{"plan": ["a"]} So: {"plan": ["a"]}', ["a"]),
    ("what fails the repairing parser", "{'```json```9\n1. a", NO_PLAN),
    # Lists in plain text.
    ("numbered with parentheses", "1) a\n2) b", ["a", "b"]),
    ("numbered with words", "Step 1: a\nStep 2: b", ["a", "b"]),
    ("bold numbers", "**1.** a\n**2.** b", ["a", "b"]),
    ("bold steps", "**Step 1:** a\n**Step 2:** b", ["a", "b"]),
    ("bold titles", "**Step 1: a**\n\n**Step 2: b** c **d**", ["a", "b c **d**"]),
    ("bold within a step", "1. **a** b\n2. c", ["**a** b", "c"]),
    ("headings", "### Step 1: a\n### Step 2: b", ["a", "b"]),
    ("numbers on lines of their own", "Step 1:\na\nStep 2:\nb", ["a", "b"]),
    ("numbered after prose", "Here it is:\n\n1. a\n2. b\n\nGood luck!", ["a", "b"]),
    ("numbered over two lines", "1. a\n   and more\n2. b", ["a and more", "b"]),
    ("numbered with bullets below", "1. a\n   - x\n2. b", ["a - x", "b"]),
    # Lists in other languages.
    ("no space", "1.打开文件\n2.读取内容", ["打开文件", "读取内容"]),
    ("an enumeration comma", "1、打开\n2、读取", ["打开", "读取"]),
    ("Chinese numerals", "一、打开\n二、读取", ["打开", "读取"]),
    ("Chinese words", "第一步：打开\n第二步：读取", ["打开", "读取"]),
    ("Japanese", "ステップ１：開く\nステップ２：読む", ["開く", "読む"]),
    ("Korean", "1단계: 열기\n2단계: 읽기", ["열기", "읽기"]),
    ("Russian", "Шаг 1. Открыть\nШаг 2. Прочитать", ["Открыть", "Прочитать"]),
    ("Thai", "ขั้นตอนที่ 1: เปิด\nขั้นตอนที่ ๒: อ่าน", ["เปิด", "อ่าน"]),
    ("an ellipsis at the end", "1. a\n2. b\n...", NO_PLAN),
    ("French", "Étape 1 : Ouvrir\nÉtape 2 : Lire", ["Ouvrir", "Lire"]),
    ("Turkish with a dash", "Adım 1 - Aç\nAdım 2 - Oku", ["Aç", "Oku"]),
    ("dashes", "1- abrir\n2- leer", ["abrir", "leer"]),
    ("a span of numbers", "2-3 litres of water", WHOLE),
    ("circled numbers", "① 打开\n② 读取", ["打开", "读取"]),
    ("Arabic digits", "١. افتح\n٢. اقرأ", ["افتح", "اقرأ"]),
    ("alternatives", "Option 1: a\nOption 2: b", NO_PLAN),
    ("plans with a number", "Plan 1:\n1. a\nPlan 2:\n1. b", NO_PLAN),
    ("a date", "Am 1. Mai ist Feiertag.", WHOLE),
    ("rooms", "Room 5: a\nRoom 6: b", WHOLE),
    ("times", "12:30 lunch\n3pm: b", WHOLE),
    # Data that is no plan: the task is the one step.
    ("a tool call", '{"name": "search", "arguments": {"query": "x"}}', ["task"]),
    ("a tool call in a tag", '<tool_call>{"name": "search", "arguments": {}}</tool_call>', ["task"]),
    # No plan: the reply is the one step.
    ("prose", "Just write the haiku.", WHOLE),
    ("the literal true", "true", WHOLE),
    ("an empty object", "{}", ["task"]),
    ("plan a number", '{"plan": 3}', ["task"]),
    ("plan with a number among texts", '{"plan": ["a", 2]}', ["task"]),
    ("plan of objects that say nothing", '{"plan": [{"id": 1}]}', ["task"]),
    ("plan of objects that are numbers as texts", '{"plan": [{"step": "1"}]}', ["task"]),
    ("a decimal number at the start", "1.5 litres of water", WHOLE),
    ("a long text of prose", "well" * (LONG // 4), WHOLE),
    ("a long text of open brackets", "[" * LONG, NO_PLAN),
    ("many lists in each other", '{"plan": ' + "[" * LONG + "]" * LONG + "}", NO_PLAN),
]


def test_a_planners_reply_becomes_exactly_these_steps(subtests):
    for name, reply, expected in PLANS:
        with subtests.test(name):
            assert plan_of(reply) == ([reply] if expected == WHOLE else expected)


@given(any_text)
@slow
def test_any_text_gives_a_plan_of_texts_that_are_not_empty(text):
    steps = plan_of(text)
    assert all(type(step) is str and step.strip() for step in steps or ())


@given(
    st.lists(
        st.text(min_size=1, max_size=40).map(str.strip).filter(lambda step: step[-1:].isalpha()),
        min_size=1,
        max_size=6,
        unique_by=lambda step: tuple(step.casefold().rstrip(".!").split()),
    )
)
@slow
def test_the_steps_of_a_valid_plan_arrive_as_they_were_written(steps):
    assert plan_of(json.dumps({"plan": steps})) == steps
