"""What IFEval's labels lack or have wrong, found by reading: kinds of checks by the prompt's key."""

JUDGED = {
    # Each is stated in the prompt: capitals, a translation, a haiku's syllables, lines, items, words, ...
    3221: {"letter_case"},
    1675: {"language"},
    337: {"word_count"},  # the prompt says 400, the label 336
    2309: {"contains"},
    1418: {"line_count", "sentence_count"},
    3329: {"list_item_count"},
    1508: {"line_syllables"},
    1122: {"character_count"},
    3195: {"line_count"},
    2417: {"list_item_count"},
    3428: {"sentence_count"},
    1332: {"table"},
    3025: {"contains"},
    30: {"letter_case"},
    1922: {"line_count"},
    2677: {"line_count"},
    2229: {"word_count"},
    3311: {"contains"},  # the label lacks one of the three words
    1739: {"table"},
    2070: {"table"},
    3456: {"item_count"},
    2798: {"item_count"},
}
