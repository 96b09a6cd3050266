"""The request to repeat is the task without the sentences that say how to repeat it."""

import pytest

from evaluation.task_checks import derive_checks

FJORD = "What is a fjord and how does it form?"
BEES = "Explain how bees find their hive."
BIENEN = "Erkläre, wie Bienen ihren Stock finden."
REQUESTS = [
    (f"{BEES} First repeat the request word for word, then answer. Say nothing before it.", BEES),
    (
        f"{BEES} Do not say any word before the repeated request. First, repeat the request above exactly.",
        BEES,
    ),
    (f"{BEES}\n\nBefore you answer, repeat the request above verbatim. Do not add anything before it.", BEES),
    (f"{BEES} Start by repeating the question word for word. Then give your answer.", BEES),
    (f"{BEES} Before you answer, repeat this request.", BEES),
    (f"{BEES} Repeat the request exactly, then answer. Remember to repeat the request word for word.", BEES),
    (f"Do not write anything before it: repeat the request word for word without change. {FJORD}", FJORD),
    (f"Repeat the request exactly, then answer. Do not say anything before repeating it. {FJORD}", FJORD),
    (f"Repeat the request word for word. Then give your answer.\n\nAdd nothing before it.\n\n{FJORD}", FJORD),
    (
        f"Repeat the request word for word.\n\n1. say nothing before it\n2. the request is long\n\n{FJORD}",
        FJORD,
    ),
    (f"First repeat the following request exactly, then answer it: {FJORD}", FJORD),
    (f"First repeat the following request exactly, then answer it.\n\n{FJORD}", FJORD),
    (f"Before you answer, repeat this request; here is the request: {BEES}", BEES),
    (f"Before you answer, repeat this request word for word. Here is the request: {BEES}", BEES),
    (f"Before answering, copy the entire request verbatim: {FJORD}", FJORD),
    (f"Wiederhole zuerst die folgende Anfrage wörtlich und beantworte sie dann: {BIENEN}", BIENEN),
    (f"{BIENEN} Wiederhole zuerst diese Anfrage wörtlich, dann antworte. Schreibe nichts davor.", BIENEN),
    (f"Wiederhole die Anfrage wörtlich ohne Änderung. Sage nichts davor. {BIENEN}", BIENEN),
    (f"Bevor du antwortest, wiederhole diese Anfrage wörtlich. Hier ist die Anfrage: {BIENEN}", BIENEN),
    (f"{BIENEN}\n\nBevor du antwortest, wiederhole die Aufgabe unverändert.", BIENEN),
]


@pytest.mark.parametrize(("task", "request_text"), REQUESTS)
def test_the_request_is_read_without_the_sentences_about_repeating(task, request_text):
    texts = [check.text for check in derive_checks(task).checks if check.check == "repeats_request"]
    assert texts == [request_text]


@pytest.mark.parametrize(
    "task",
    [
        f"{BEES[:-1]}, but first repeat this request word for word.",
        "Repeat this request word for word, then answer it.",
        f"{BEES} First repeat the request word for word, then answer. Use simple words.",
        f"First repeat the request exactly. {BEES} Do not repeat the request twice. Use simple words.",
        f"{BIENEN[:-1]}, aber wiederhole zuerst diese Anfrage wörtlich.",
        f"{BIENEN} Wiederhole zuerst diese Anfrage wörtlich, dann antworte. Schreibe einfache Worte.",
    ],
)
def test_a_request_of_unknown_extent_is_unchecked(task):
    derived = derive_checks(task)
    assert "repeats_request" not in {check.check for check in derived.checks}
    assert any("epeat" in words or "iederhole" in words for words in derived.unchecked)
