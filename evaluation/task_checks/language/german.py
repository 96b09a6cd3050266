"""German words of requirements, each with the English words that the grammar knows."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import regex
from text_to_num import text2num

_WORDS: Final = {
    # words that say how many
    "mindestens": "at least", "wenigstens": "at least", "höchstens": "at most", "maximal": "at most",
    "genau": "exactly", "exakt": "exactly", "etwa": "around", "ungefähr": "around", "circa": "around",
    "rund": "around", "mehr": "more", "weniger": "fewer", "als": "as", "zwischen": "between", "bis": "to",
    "objekt": "object",
    "unter": "under", "über": "about", "oder": "or", "und": "and", "maximum": "maximum", "zu": "to",
    "einmal": "once", "zweimal": "twice", "dreimal": "three times", "viermal": "four times",
    "fünfmal": "five times", "sechsmal": "six times", "mal": "times", "insgesamt": "in total", "lang": "long",
    # numbers
    "eins": "one", "ein": "a", "eine": "a", "einen": "a", "einem": "a", "einer": "a", "eines": "a",
    "zwei": "two", "drei": "three", "vier": "four", "fünf": "five", "sechs": "six", "sieben": "seven",
    "acht": "eight", "neun": "nine", "zehn": "ten", "elf": "eleven", "zwölf": "twelve", "zwanzig": "twenty",
    "dreißig": "thirty", "vierzig": "forty", "fünfzig": "fifty", "hundert": "hundred",
    "zweihundert": "two hundred", "dreihundert": "three hundred", "tausend": "one thousand",
    "einziger": "single", "einzigen": "single", "einzige": "single",
    # things that are counted
    "wort": "word", "wörter": "words", "wörtern": "words", "worte": "words", "worten": "words",
    "satz": "sentence", "sätze": "sentences", "sätzen": "sentences", "absatz": "paragraph",
    "absätze": "paragraphs", "absätzen": "paragraphs", "zeile": "line", "zeilen": "lines",
    "zeichen": "characters", "buchstabe": "letter", "buchstaben": "letter", "strophe": "stanza",
    "strophen": "stanzas", "stichpunkt": "bullet point", "stichpunkte": "bullet points",
    "stichpunkten": "bullet points", "aufzählungspunkte": "bullet points",
    "aufzählungspunkten": "bullet points", "überschrift": "heading", "überschriften": "headings",
    "platzhalter": "placeholders", "platzhaltern": "placeholders", "spalten": "columns", "zahlen": "numbers",
    "abschnitte": "sections", "abschnitten": "sections", "schlüsselwörter": "keywords", "begriff": "term",
    "begriffe": "terms", "ausdruck": "expression", "komma": "comma", "kommas": "commas", "kommata": "commas",
    "ausrufezeichen": "exclamation marks", "fragezeichen": "question marks", "punkt": "period",
    "emojis": "emojis", "anführungszeichen": "quotation marks", "doppelte": "double", "doppelten": "double",
    # letter case and languages
    "kleinbuchstaben": "lowercase letters", "großbuchstaben": "capital letters", "deutsch": "german",
    "englisch": "english", "französisch": "french", "spanisch": "spanish", "italienisch": "italian",
    "portugiesisch": "portuguese", "russisch": "russian", "polnisch": "polish", "türkisch": "turkish",
    "chinesisch": "chinese", "japanisch": "japanese", "niederländisch": "dutch", "deutscher": "german",
    "englischer": "english", "sprache": "language",
    # what to do
    "schreibe": "write", "schreib": "write", "schreiben": "write", "verfasse": "write", "erstelle": "create",
    "dichte": "write", "formuliere": "write", "gib": "give", "nenne": "list", "liste": "list",
    "antworte": "answer", "antworten": "answer", "beantworte": "answer", "fasse": "summarize",
    "erkläre": "explain", "erklär": "explain", "beschreibe": "describe", "übersetze": "translate",
    "verwende": "use", "verwenden": "use", "benutze": "use", "nutze": "use", "nutzen": "use",
    "benutzen": "use", "vermeide": "avoid", "beginne": "begin", "beginnen": "begin", "beende": "end",
    "enden": "end", "ende": "end", "füge": "add", "erwähne": "mention", "setze": "put", "achte": "make sure",
    "enthalten": "contain", "enthält": "contains", "vorkommen": "appear", "erscheinen": "appear",
    "haben": "have", "umfassen": "contain", "bitte": "please", "stelle": "make",
    "soll": "should", "sollte": "should", "sollen": "should", "sollten": "should", "muss": "must",
    "müssen": "must", "darf": "may", "dürfen": "may", "nicht": "not", "kein": "no", "keine": "no",
    "keinen": "no", "keinem": "no", "keiner": "no", "ohne": "without", "nur": "only",
    "ausschließlich": "only", "komplett": "entirely", "vollständig": "entirely", "gesamte": "entire",
    "gesamten": "entire", "ganze": "entire", "ganzen": "entire",
    # talking to the one who answers
    "ich": "i", "wir": "we", "mir": "me", "uns": "us", "mich": "me", "brauche": "need", "brauchen": "need",
    "möchte": "want", "hätte": "want", "suche": "need", "will": "want", "kannst": "can", "können": "can",
    "könntest": "could", "könnten": "could", "du": "you", "mach": "make", "mache": "make", "machen": "make",
    "nenn": "list", "sag": "say", "fass": "summarize", "verzichte": "avoid", "verzichten": "avoid",
    "unterschreib": "sign", "unterschreibe": "sign", "unterschrift": "signature", "betreff": "subject line",
    "stell": "make", "erstell": "create", "liefere": "provide", "schlag": "suggest", "hänge": "add",
    "anfangen": "start", "anfängt": "starts", "beginnt": "starts", "endet": "ends", "aufhören": "end",
    "stehen": "appear", "steht": "appears", "aber": "but", "dann": "then", "jeweils": "each",
    "alles": "everything", "sonst": "otherwise", "nichts": "nothing",
    # comparisons, numbers and things, further
    "länger": "longer", "kürzer": "shorter", "größer": "greater", "kleiner": "smaller", "minimum": "minimum",
    "punkte": "bullet points", "punkten": "bullet points", "spalte": "column", "reihen": "rows",
    "stichpunktliste": "bullet list", "wörterzahl": "word count", "schritte": "steps", "schritten": "steps",
    "nummeriert": "numbered", "nummerierte": "numbered", "nummerierten": "numbered", "fett": "bold",
    "kursiv": "italic", "schlüssel": "keys", "schlüsseln": "keys", "umfang": "length", "länge": "length",
    "aufzählungen": "lists", "gründe": "reasons", "gründen": "reasons", "vorschläge": "suggestions",
    "kommagetrennt": "comma separated", "kommagetrennten": "comma separated", "großgeschrieben": "uppercase",
    "kleingeschrieben": "lowercase", "reim": "rhyme", "reime": "rhymes", "reimen": "rhymes", "emoji": "emoji",
    "niederländische": "dutch", "funktionsname": "name it",
    # other words
    "der": "the", "die": "the", "das": "the", "den": "the", "dem": "the", "des": "the", "in": "in",
    "im": "in the", "auf": "in", "mit": "with", "von": "of", "für": "for", "deine": "your", "deiner": "your",
    "dein": "your", "deinen": "your", "ihre": "your", "antwort": "answer", "text": "text", "jeder": "each",
    "jede": "each", "jedes": "each", "jedem": "each", "pro": "per", "je": "each", "wie": "how",
    "warum": "why", "was": "what", "wer": "who", "wo": "where", "wann": "when", "welche": "which",
    "welcher": "which", "welches": "which", "ist": "is", "sind": "are", "hat": "has", "dass": "that",
    "gedicht": "poem", "geschichte": "story", "brief": "letter", "tabelle": "table",
    "aufzählung": "bullet list", "titel": "title", "folgenden": "following", "folgende": "following",
    "er": "it", "am": "at the", "ja": "yes", "nein": "no",
    "weiterer": "another", "weitere": "another", "weiteren": "another", "weiteres": "another",
    "diesen": "this", "dieser": "this", "dieses": "this", "werden": "be", "sein": "be", "es": "it",
    "sie": "it", "ob": "whether", "sagt": "says",
    # order and place
    "erste": "first", "ersten": "first", "erster": "first", "zweite": "second", "zweiten": "second",
    "zweiter": "second", "dritte": "third", "dritten": "third", "letzte": "last", "letzten": "last",
    "letzter": "last", "anfang": "beginning", "schluss": "end", "zuerst": "first", "danach": "then",
    "jeden": "each", "darin": "in it", "dazwischen": "between them", "durch": "by", "dich": "yourself",
    # further orders and statements
    "schließe": "end", "schließ": "end", "wiederhole": "repeat", "erzähl": "tell", "lauten": "read",
    "wofür": "why",
    "erzähle": "tell", "hebe": "highlight", "markiere": "highlight", "hervor": "", "hinzu": "",
    "begrenze": "limit", "beschränke": "limit", "baue": "include", "bau": "include", "zähle": "list",
    "auftauchen": "appear", "auftaucht": "appears", "vorkommt": "appears", "braucht": "needs",
    "überschreiten": "exceed", "weglassen": "avoid", "getrennt": "separated", "geschrieben": "written",
    "verwendet": "used", "benutzt": "used", "verboten": "forbidden", "tabu": "taboo", "erlaubt": "allowed",
    # further things and their properties
    "mein": "my", "meine": "my", "aufsatz": "essay", "frage": "question", "textstellen": "passages",
    "passagen": "passages", "postskriptum": "postscript", "nachsatz": "postscript", "klammern": "brackets",
    "eckigen": "square", "spitzen": "angle", "semikolon": "semicolon", "semikolons": "semicolons",
    "doppelpunkte": "colons", "bindestriche": "hyphens", "leerzeichen": "spaces", "ziffern": "digits",
    "stichwörter": "keywords", "varianten": "versions", "versionen": "versions", "fassungen": "versions",
    "unterschiedliche": "different", "verschiedene": "different", "wortwörtlich": "word for word",
    "wörtlich": "word for word", "klein": "small", "groß": "large", "einziges": "single", "wenn": "if",
    # repeating the request, and examples of a form
    "anfrage": "request", "aufgabe": "task", "bevor": "before", "antwortest": "answer",
    "davor": "before it", "vorher": "before it", "sage": "say", "änderung": "change", "hier": "here",
    "diese": "this", "unverändert": "unchanged", "trenne": "separate", "trennen": "separate",
    "eigener": "own", "eigene": "own", "eigenen": "own", "eigenem": "own", "eigenes": "own",
    "zahl": "number", "nummer": "number", "jahr": "year", "jahreszahl": "year", "datum": "date",
    "nennt": "mentions", "bleiben": "stay", "drinbleiben": "stay", "fängt": "starts", "hört": "ends",
    "schließt": "ends", "neue": "new", "neuen": "new", "neuer": "new", "geben": "give", "sagen": "say",
    "zusammenfassen": "summarize", "nie": "never", "niemals": "never", "fettgedruckten": "bold",
    "fettgedruckt": "bold", "durchnummeriert": "numbered", "durchnummerierte": "numbered",
    "erklären": "explain", "beschreiben": "describe", "nennen": "list",
    "erstellen": "create", "verfassen": "write", "formulieren": "write", "übersetzen": "translate",
    "davon": "of them", "vers": "line", "verse": "lines", "versen": "lines",
    "alphabetisch": "alphabetically", "sortiert": "sorted", "sortiere": "sort", "geordnet": "ordered",
    "vermeiden": "avoid", "auflisten": "list", "erwähnen": "mention", "gegenüberstellen": "compare",
    "vergleichen": "compare", "erzählen": "tell", "umschreiben": "rewrite", "kürzen": "shorten",
    "vorschlagen": "suggest", "einbauen": "include", "hinzufügen": "add",
    "haupttext": "body", "hauptteil": "body", "außer": "except", "erst": "first", "ausgenommen": "except",
    "bildunterschrift": "caption", "beurteile": "evaluate", "beurteil": "evaluate", "bewert": "evaluate",
    "prüf": "check", "korrigier": "correct", "verbesser": "improve", "übersetz": "translate",
    "kürz": "shorten",
    "vergleich": "compare", "beschreib": "describe", "bewerte": "evaluate", "prüfe": "check",
    "korrigiere": "correct", "verbessere": "improve", "überarbeite": "revise", "analysiere": "analyze",
    "vergleiche": "compare", "interpretiere": "interpret", "kürze": "shorten", "stimmt": "is", "gilt": "does",
    "unser": "our", "unsere": "our", "unserer": "our",
    "unserem": "our", "unseren": "our", "würdest": "would", "würden": "would", "schlagzeile": "headline",
    "untertitel": "caption", "tabellen": "tables", "formatierung": "formatting",
    "formatierungen": "formatting", "formatierungszeichen": "formatting marks", "klartext": "plain text",
    "reiner": "plain", "reinen": "plain",
}  # fmt: skip
_WORD: Final = regex.compile(r"\b\p{L}+\b")
_ENGLISH: Final = frozenset(
    [
        "in",
        "die",
        "was",
        "an",
        "am",
        "so",
        "will",
        "mal",
        "emojis",
        "brief",
        "text",
        "maximum",
        "den",
        "des",
        "pro",
        "unter",
        "punkt",
        "also",
        "er",
    ]
)
"""Words of the table that are English words, too."""
_NUMERAL: Final = regex.compile(
    r"(?:ein|zwei|drei|vier|fünf|sechs?|sieb(?:en)?|acht|neun|zehn|elf|zwölf|zwan|hundert|tausend|und|zig|"
    r"ßig)+"
)
_LEAST: Final = 0.2
_MOST_CHARACTERS: Final = 2_000


def is_german(text: str) -> bool:
    """Check whether enough of the words are German ones of requirements."""
    words = [word.lower() for word in _WORD.findall(text[:_MOST_CHARACTERS])]
    known = sum(word in _WORDS and word not in _ENGLISH for word in words)
    return known > max(1, len(words) * _LEAST)


@lru_cache(1024)
def translate_word(word: str) -> str:
    """Translate one word in small letters; one that has no entry stays as it is."""
    if word in _WORDS:
        return _WORDS[word]
    is_times = word.endswith("mal")
    number = _read_number(word.removesuffix("mal"))
    return word if number is None else f"{number} times" if is_times else str(number)


def _read_number(word: str) -> int | None:
    if not _NUMERAL.fullmatch(word):
        return None
    try:
        return int(text2num(word, "de"))
    except ValueError:
        return None
