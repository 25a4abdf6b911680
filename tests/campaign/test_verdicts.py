"""Decisions as continuous integration takes them."""

import io
import xml.etree.ElementTree as ET

import pytest
from scipy.special import betainc

from cutline.campaign import Campaign, Decision
from cutline.campaign.files.verdicts import as_ids, as_markdown, write_junit


@pytest.fixture(scope="module")
def decisions() -> list[Decision]:
    """One arm of each decision, with ids that are hard to write down."""
    campaign = Campaign.create(None, "c", ["a,b|`c`", "<&\x1b>", "é"], 0.5, "Uniform", 4)
    for pull in campaign.ask(3):
        if pull.arm != "é":
            campaign.tell(pull, pull.arm == "<&\x1b>")
    return campaign.decisions()


def test_markdown_has_the_counts_and_a_row_an_arm(decisions: list[Decision]) -> None:
    assert as_markdown(decisions, 0.5) == (
        "1 below, 1 above, 1 undecided (threshold 0.5)\n\n"
        "| arm | pulls | mean | decision | wrong |\n"
        "| --- | ---: | ---: | --- | ---: |\n"
        f"| `` a,b\\|`c` `` | 1 | 0.0000 | below | {decisions[0].wrong:.4f} |\n"
        f"| `<&\\x1b>` | 1 | 1.0000 | above | {decisions[1].wrong:.4f} |\n"
        f"| `é` | 0 | - | undecided | {decisions[2].wrong:.4f} |\n"
    )


def test_markdown_of_one_kind_still_counts_all(decisions: list[Decision]) -> None:
    lines = as_markdown(decisions, 0.5, "above").splitlines()
    assert lines[0] == "1 below, 1 above, 1 undecided (threshold 0.5)"
    assert len(lines) == 5


def test_ids_stand_alone_exactly_as_they_are(decisions: list[Decision]) -> None:
    assert as_ids(decisions) == "a,b|`c`\n<&\x1b>\né\n"


def test_junit_has_a_case_an_arm_that_has_failed_if_it_is_below(decisions: list[Decision]) -> None:
    file = io.BytesIO()
    write_junit(decisions, "night", 0.5, file)
    (suite,) = ET.fromstring(file.getvalue())
    assert suite.attrib == {"name": "night", "tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    assert [case.get("name") for case in suite] == ["a,b|`c`", "<&\\x1b>", "é"]
    assert [[(child.tag, child.get("message")) for child in case] for case in suite] == [
        [("failure", "the mean of 1 pull is 0.0000; it is below the threshold 0.5 with a probability of 0.7500")],
        [],
        [("skipped", "there is no result")],
    ]


def test_junit_says_what_is_true_of_arms_that_are_known_and_of_means_above_the_threshold() -> None:
    """Two of three are a yes, and by Beta(1, 9) the mean is below all the same: its posterior is Beta(3, 10)."""
    file = io.BytesIO()
    with Campaign.create(None, "c", ["a"], 0.5, "Uniform", 4, prior=(1, 9)) as campaign:
        campaign.observe_many([("a", 1, "ann"), ("a", 1, "bob"), ("a", 0, "cid")])
        called = campaign.decisions()
    with Campaign.create(None, "c", ["b"], 0.5, "Uniform", 4, workers="weighed", known={"b": False}) as campaign:
        write_junit([*called, *campaign.decisions()], "night", 0.5, file)
    (suite,) = ET.fromstring(file.getvalue())
    chance = betainc(3, 10, 0.5)
    assert [case[0].get("message") for case in suite] == [
        f"the mean of 3 pulls is 0.6667; it is below the threshold 0.5 with a probability of {chance:.4f}",
        "its answer is known: below the threshold 0.5",
    ]
