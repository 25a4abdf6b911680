"""What is read from the report of a batch."""

import json
from typing import Any

import pytest

from cutline.campaign.running.commands.reports import JsonLines, Report, read_junit
from cutline.errors import InvalidInputError


def lines(*rows: Any, arms: Any = "abcd", end: bytes = b"\n") -> Report:
    reader = JsonLines(arms)
    reader.feed(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + end for row in rows))
    return reader.finish()


def test_a_line_has_a_reward_a_reason_to_skip_or_why_it_could_not_be_measured() -> None:
    report = lines(
        {"arm": "a", "reward": 1},
        {"arm": "b", "reward": 0.25, "output": "it says why", "note": "12 tokens"},
        {"arm": "c", "skipped": "not here"},
        {"arm": "d", "error": "no database"},
    )
    assert report.rewards == {"a": 1.0, "b": 0.25}
    assert report.skipped == {"c": "not here"}
    assert report.errors == {"d": "no database"}
    assert report.output == {"b": "it says why"}
    assert report.notes == {"b": "12 tokens"}
    assert not report.begun


def test_an_arm_that_has_only_begun_is_known_until_its_reward_comes() -> None:
    report = lines({"arm": "b"}, {"arm": "a"}, {"arm": "c"}, {"arm": "a", "reward": True})
    assert list(report.begun) == ["b", "c"]
    assert report.rewards == {"a": 1.0}


def test_the_first_reward_of_an_arm_counts() -> None:
    report = lines({"arm": "a", "reward": 0}, {"arm": "a", "reward": 1}, {"arm": "a"})
    assert (report.rewards, dict(report.begun)) == ({"a": 0.0}, {})


def test_ids_of_others_are_remembered_and_do_not_count() -> None:
    report = lines({"arm": "x", "reward": 1}, {"arm": "a", "reward": 1})
    assert (report.rewards, list(report.others)) == ({"a": 1.0}, ["x"])


def test_a_report_may_come_byte_by_byte_and_its_last_line_may_have_no_end() -> None:
    reader = JsonLines(["é", "b"])
    for byte in '{"arm": "é", "reward": 1}\n\n{"arm": "b", "reward": 0}'.encode():
        reader.feed(bytes([byte]))
    assert reader.report.rewards == {"é": 1.0}
    assert reader.finish().rewards == {"é": 1.0, "b": 0.0}


def test_a_last_line_that_was_cut_off_is_left_out() -> None:
    reader = JsonLines(["a", "b"])
    reader.feed(b'{"arm": "a", "reward": 1}\n{"arm": "b", "rew')
    assert reader.finish().rewards == {"a": 1.0}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"12", 'the report, line 2: \'12\'; it must be like {"arm": "a", "reward": 1}'),
        (b"a,1", "the report, line 2: 'a,1'; it must be like"),
        (b'{"arm": 1, "reward": 1}', 'the report, line 2: \'{"arm": 1, "reward": 1}\'; it must be like'),
        (b'{"arm": "a", "reward": 2}', "the report, line 2: reward 2 is not a number in [0, 1]"),
        (b'{"arm": "a", "reward": NaN}', "the report, line 2: reward nan is not a number in [0, 1]"),
        (b'{"arm": "a", "reward": "1"}', "the report, line 2: reward '1' is not a number in [0, 1]"),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number(line: bytes, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        lines({"arm": "b"}, line)
    assert str(caught.value).startswith(message)


def cases(*parts: str) -> bytes:
    return f"<testsuites><testsuite>{''.join(parts)}</testsuite></testsuites>".encode()


@pytest.mark.parametrize(
    ("group", "name", "arm"),
    [
        ("tests.test_a", "test_b[1.5::x/y.py]", "tests/test_a.py::test_b[1.5::x/y.py]"),
        ("tests.test_a.TestB", "test_c", "tests/test_a.py::TestB::test_c"),
        ("com.shop.BasketTest", "isEmpty", "com.shop.BasketTest#isEmpty"),
        ("com.shop.BasketTest", "isEmpty", "com.shop.BasketTest.isEmpty"),
        ("github.com/shop", "TestBasket", "github.com/shop::TestBasket"),
        ("a basket", "is empty", "is empty"),
        ("", "is empty", "is empty"),
    ],
)
def test_a_case_is_known_by_its_name_and_its_class(group: str, name: str, arm: str) -> None:
    xml = cases(f'<testcase classname="{group}" name="{name}"/>')
    assert read_junit(xml, ["another", arm]).rewards == {arm: 1.0}


def test_a_failure_or_an_error_is_a_reward_of_0_and_a_skip_none() -> None:
    xml = cases(
        '<testcase name="a"/>',
        '<testcase name="b"><failure message="no"/></testcase>',
        '<testcase name="c"><error message="no"/></testcase>',
        '<testcase name="d"><skipped message="later"/></testcase>',
        '<testcase classname="x" name="e"/>',
    )
    report = read_junit(xml, "abcd")
    assert report.rewards == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert (report.skipped, list(report.others)) == ({"d": "later"}, ["e"])


@pytest.mark.parametrize("turned", [False, True])
def test_an_arm_with_several_cases_has_failed_if_one_has(turned: bool) -> None:
    parts = [
        '<testcase name="a"/>',
        '<testcase name="a"><error/></testcase>',
        '<testcase name="a"><skipped/></testcase>',
    ]
    assert read_junit(cases(*(reversed(parts) if turned else parts)), ["a"]).rewards == {"a": 0.0}


def test_a_name_that_two_arms_have_in_junit_is_neither_of_them() -> None:
    arms = ["a/b.py::test_c", "a.b::test_c"]
    report = read_junit(cases('<testcase classname="a.b" name="test_c"/>'), arms)
    assert report.rewards == {"a.b::test_c": 1.0}  # whose id it is
    assert read_junit(cases('<testcase classname="a.b.C" name="d"/>'), ["a/b.py::C::d", "a/b/C.py::d"]).rewards == {}


def test_what_is_no_xml_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"^the report is no JUnit XML: no element found"):
        read_junit(b"", ["a"])
