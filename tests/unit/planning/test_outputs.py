"""Check which policies an artifact warns of if they fail their audits, and which tables have all rows."""

from dataclasses import replace

RELEASED, PRINTED = ("ldp_mab", "as_released"), ("ldp_mab", "as_printed")


def test_an_artifact_warns_only_of_the_variant_that_its_function_draws(quick_plan):
    outputs = quick_plan.outputs
    assert outputs.private_policies("ma2025", "fig6") == [RELEASED]
    assert outputs.private_policies("ma2025", "fig6_printed") == [PRINTED]
    assert {RELEASED, PRINTED} <= {*outputs.private_policies("ma2025", "fig7a")}


def test_an_artifact_warns_only_of_its_policies(quick_plan):
    outputs = quick_plan.outputs
    assert ("private_ucb", "as_released") in outputs.private_policies("neel2018", "fig1")
    # UCB claims no budget, and sizes of data are about no policy.
    assert outputs.private_policies("neel2018", "fig2") == []
    assert outputs.private_policies("ma2025", "table1") == []


def test_a_study_without_a_variant_adds_none(quick_plan):
    # Only the text's algorithm ran in the study behind this figure.
    found = quick_plan.outputs.private_policies("neel2018", "corrected_pvalues")
    assert {variant for _, variant in found} == {"as_printed"}


def test_a_table_has_all_rows_if_its_studies_have_the_published_settings_and_real_data(quick_plan):
    outputs = quick_plan.outputs

    def is_complete(paper, name, **other):
        (statement,) = (one for one in outputs.statements[paper] if one.name == name)
        return outputs.has_all_rows(paper, replace(statement, **other))

    # By formula, and from a study with the same settings at all scales.
    assert is_complete("ma2025", "display_4")
    assert is_complete("sajed2019", "theorem_4_3")
    # From smaller horizons, and from a stand-in.
    assert not is_complete("li2024", "lemma_3_4")
    assert not is_complete("sajed2019", "theorem_4_3", datasets=("jobs",))
