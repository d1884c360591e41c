"""What prior estimators return."""

import numpy as np

import likewise as lw

THREE = lw.PriorEstimate(
    np.array([0.5, 0.3, 0.2]),
    np.array([[0.4, 0.6], [0.2, 0.4], [0.1, 0.3]]),
    0.9,
    "pair_likelihood",
    {"notes": ["a note"]},
)


def test_an_estimate_of_two_classes_reads_as_a_number_and_as_a_sentence() -> None:
    found = lw.PriorEstimate(0.7, None, None, "km2", {"notes": ["it is not consistent"]})
    assert float(found) == 0.7
    assert str(found) == "majority class 0.700 (no interval, km2); it is not consistent"


def test_an_estimate_of_several_classes_reads_as_the_largest_share_and_as_a_sentence() -> None:
    assert float(THREE) == 0.5
    assert str(THREE) == (
        "classes 0.500, 0.300, 0.200 (90 % intervals 0.400 to 0.600, 0.200 to 0.400, "
        "0.100 to 0.300, pair_likelihood); a note"
    )


def test_estimates_are_equal_if_all_they_say_is() -> None:
    same = lw.PriorEstimate(
        THREE.value.copy(), THREE.interval.copy(), 0.9, "pair_likelihood", {"notes": ["a note"]}
    )
    assert same == THREE
    assert lw.PriorEstimate(0.7, (0.6, 0.8), 0.9, "km1") != THREE
    assert lw.PriorEstimate(0.7, None, None, "km1") == lw.PriorEstimate(0.7, None, None, "km1")
    assert lw.PriorEstimate(0.7, None, None, "km1") != 0.7


def test_notebooks_show_a_table_with_escaped_notes() -> None:
    found = lw.PriorEstimate(0.71, (0.66, 0.75), 0.9, "pair_moments", {"notes": ["a < b"]})
    shown = found._repr_html_()
    for words in ("majority class", "71.0 %", "66.0 %", "75.0 %", "90 % interval", "a &lt; b"):
        assert words in shown
    three = lw.PriorEstimate(np.array([0.5, 0.3, 0.2]), None, None, "km2")._repr_html_()
    assert three.count("<tr>") == 4
    assert "none" in three
