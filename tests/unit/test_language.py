"""Check the linter of words and sentences, which only warns."""

import pytest
import yaml
from tools import language


@pytest.mark.parametrize(
    "text", ["A target stands before the option.", "Compiled anew.", "It hangs on the seed.", "word " * 31]
)
def test_a_word_to_avoid_and_a_long_sentence_are_faults(text):
    assert len([*language.faults(text)]) == 1


def test_names_of_outcomes_and_stand_ins_are_none():
    assert [*language.faults("It cannot be told from a stand-in file.")] == []


def test_a_warning_names_the_file(tmp_path, monkeypatch):
    (tmp_path / "page.md").write_text("It is compiled anew.\n", encoding="utf-8")
    long = {"statement": "s", "headline": "word " * 26, "test": "One. Two. Three. Four."}
    (tmp_path / "statements.yaml").write_text(yaml.safe_dump({"statements": [long]}), encoding="utf-8")
    monkeypatch.setattr(language, "ROOT", tmp_path)
    texts = {tmp_path / "page.md": language.of_page, tmp_path / "statements.yaml": language.of_settings}
    monkeypatch.setattr(language, "TEXTS", texts)
    page, sentence, headline, test = language.warnings()
    assert page == "page.md: warning: write again: It is compiled anew."
    assert sentence.startswith("statements.yaml: warning: 26 words: ")
    assert headline.startswith("statements.yaml: warning: 26 words: ")
    assert test == "statements.yaml: warning: more than 3 sentences: One. Two. Three. Four."
