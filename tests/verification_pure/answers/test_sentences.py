from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from verification.rules.extract import split_sentences
from verification.rules.extract_sentences import clean_markdown, split_units


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def test_english_sentences_end_at_full_stops_but_not_in_abbreviations_numbers_or_links() -> None:
    assert texts("Dr. Bob paid $3.5 million. See https://a.example/c.d?x=1 first. Then go, e.g. Home.") == [
        "Dr. Bob paid $3.5 million.",
        "See https://a.example/c.d?x=1 first.",
        "Then go, e.g. Home.",
    ]


def test_chinese_sentences_keep_their_closing_quotes() -> None:
    assert texts("他说：“好。”然后走了！价格是3.5元。") == ["他说：“好。”", "然后走了！", "价格是3.5元。"]


def test_lists_headings_and_rows_stand_alone_and_soft_wraps_belong_together() -> None:
    text = "# Keys\n\nKeys are kept\nin the safe.\n\n- one key\n- two\n  keys\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert texts(text) == ["# Keys", "Keys are kept\nin the safe.", "- one key", "- two\n  keys", "| a | b |", "| 1 | 2 |"]


def test_a_list_item_knows_its_lead_in_and_a_row_its_head() -> None:
    text = "Bring these:\n\n- a badge\n- a form\n\n| role | days |\n|---|---|\n| staff | 5 |\n| guest | 1 |\n"
    units = split_units(text)
    assert [unit.lead for unit in units if unit.kind == "item"] == [0, 0]
    rows = [unit for unit in units if unit.kind == "row"]
    assert {units[unit.lead].start for unit in rows[1:]} == {rows[0].start}


def test_front_matter_and_code_fences_are_not_sentences() -> None:
    assert texts("---\ntitle: Keys\n---\n\nThe key is here.\n") == ["The key is here."]
    assert [unit.kind for unit in split_units("```\nrm -r x\n```\nDone now.\n")] == ["code", "prose"]


def test_markup_is_cleaned_and_words_stay() -> None:
    assert clean_markdown("- Use **the** [safe](https://x.example/(a)) and `vault` daily") == "Use the safe and vault daily"
    assert clean_markdown("| Opening hours | 9 am |") == "Opening hours · 9 am"
    assert clean_markdown("snake_case_name stays") == "snake_case_name stays"


@given(st.text(alphabet="aA .!?\n|-#*1。！中：`~", max_size=120))
def test_spans_are_in_order_disjoint_and_lose_only_white_space_and_marks(text: str) -> None:
    place = 0
    for start, end in split_sentences(text):
        assert place <= start < end <= len(text)
        assert text[start:end].strip() == text[start:end]
        place = end


def test_record_lines_and_tabbed_rows_stand_alone() -> None:
    text = "Front desk · Opening hours: 9 am to 5 pm on working days\nFront desk · Phone: 12\n主题：阅览室\n开放时间：上午九点\n"
    assert texts(text) == text.strip().split("\n")
    rows = "Fee\tAmount\nRepair\t40 EUR\nThe fee is waived for members.\n"
    assert [unit.kind for unit in split_units(rows)] == ["row", "row", "prose"]


def test_a_field_line_leads_back_to_the_line_that_opens_the_record() -> None:
    units = split_units("主题：阅览室\n开放时间：上午九点\n位置：二楼\n\n主题：展厅\n位置：一楼\n")
    assert [unit.lead for unit in units] == [-1, 0, 0, -1, 3]
    assert [unit.lead for unit in split_units("Desk · Phone: 12\nDesk · Room: 4\n")] == [-1, -1]


def test_a_dot_inside_a_line_is_no_list_mark() -> None:
    assert clean_markdown("Front desk · Phone: 12") == "Front desk · Phone: 12"
    assert clean_markdown("· a badge") == "a badge"
    assert clean_markdown("Repair\t40 EUR") == "Repair · 40 EUR"
