"""parse reads what policies print, as people write it, and says what exists where it cannot."""

import pytest
from hypothesis import given, strategies as st

from cutline import APT, LSA, UCBE, InvalidInputError, NotFoundError, OptKG, Uniform, parse
from cutline.policies import Policy, available

SIGNATURES = ["LSA(alpha)", "APT(epsilon)", "Opt-KG(a, b)", "UCBE(i)", "Uniform"]


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("LSA", LSA(1.35)),
        ("LSA()", LSA(1.35)),
        ("lsa(2)", LSA(2)),
        ("LSA(alpha=2)", LSA(2)),
        ("LSA( alpha = 2 )", LSA(2)),
        ("APT(0.05)", APT(0.05)),
        ("APT(.05)", APT(0.05)),
        ("apt(5e-2)", APT(0.05)),
        ("UCBE(-1)", UCBE(-1)),
        ("Opt-KG(1,1)", OptKG(1, 1)),
        ("optkg(.5, .5)", OptKG(0.5, 0.5)),
        ("OPT_KG(2)", OptKG(2, 1)),
        ("Opt-KG(b=3)", OptKG(1, 3)),
        ("Opt-KG(2, b=3)", OptKG(2, 3)),
        (" Uniform ", Uniform()),
        ("uniform()", Uniform()),
    ],
)
def test_a_policy_is_read_as_people_write_it(text: str, policy: Policy) -> None:
    assert parse(text) == policy


@given(alpha=st.floats(1e-300, 1e5), a=st.floats(1e-6, 1e6), b=st.floats(1e-6, 1e6))
def test_every_parameter_comes_back_with_all_its_digits(alpha: float, a: float, b: float) -> None:
    assert parse(str(LSA(alpha))) == LSA(alpha)
    assert parse(str(OptKG(a, b))) == OptKG(a, b)


def test_an_unknown_name_is_answered_with_all_that_exist() -> None:
    with pytest.raises(NotFoundError) as caught:
        parse("LSE(1)")
    message = str(caught.value)
    assert message.startswith("no policy is called 'LSE'; there are LSA(alpha), ")
    assert all(signature in message for signature in SIGNATURES)
    assert all(policy.name in message for policy in available())
    assert "\n" not in message


@pytest.mark.parametrize("text", ["", "  ", "(1)", "LSA(1", "LSA 1", "LSA)1(", "1LSA", "LSA(1)(2)x"])
def test_what_is_no_policy_is_answered_with_all_that_can_be_written(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith(f"cannot read the policy {text!r}; write one of LSA(alpha), ")
    assert all(signature in message for signature in SIGNATURES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LSA(x)", "'LSA(x)': 'x' is not a number; write LSA(alpha)"),
        ("LSA(1,)", "'LSA(1,)': '' is not a number; write LSA(alpha)"),
        ("LSA(1)(2)", "'LSA(1)(2)': '1)(2' is not a number; write LSA(alpha)"),
        ("LSA(1,2)", "'LSA(1,2)': the parameters do not fit; write LSA(alpha)"),
        ("LSA(beta=1)", "'LSA(beta=1)': the parameters do not fit; write LSA(alpha)"),
        ("Opt-KG(1, a=2)", "'Opt-KG(1, a=2)': the parameters do not fit; write Opt-KG(a, b)"),
        ("Opt-KG(b=2, 1)", "'Opt-KG(b=2, 1)': a plain number after a named one; write Opt-KG(a, b)"),
        ("Opt-KG(b=2, b=3)", "'Opt-KG(b=2, b=3)': b is given twice; write Opt-KG(a, b)"),
        ("Uniform(1)", "'Uniform(1)': the parameters do not fit; write Uniform"),
    ],
)
def test_bad_parameters_are_answered_with_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LSA(0)", "LSA: alpha is 0.0; it must be a number above 0, at most 1e100"),
        ("LSA(nan)", "LSA: alpha is nan; it must be a number above 0, at most 1e100"),
        ("APT(-1)", "APT: epsilon is -1.0; it must be a number from 0 to 1e100"),
        ("Opt-KG(0,1)", "Opt-KG: a is 0.0; it must be a number from 1e-6 to 1e6"),
        ("UCBE(inf)", "UCBE: i is inf; it must be a number from -100 to 100"),
    ],
)
def test_a_parameter_out_of_range_is_answered_with_its_range(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_both_errors_are_what_a_python_user_would_catch() -> None:
    with pytest.raises(KeyError):
        parse("LSE")
    with pytest.raises(ValueError, match="not a number"):
        parse("LSA(x)")
