"""Every policy that is found keeps the whole contract."""

from pathlib import Path

import pytest

from cutline.policies import Policy, available
from policy_contract import CHECKS, Check


@pytest.mark.kernel
@pytest.mark.parametrize("check", CHECKS, ids=lambda item: item.__name__)
@pytest.mark.parametrize("policy", available(), ids=lambda item: item.name)
def test_a_policy(policy: type[Policy], check: Check) -> None:
    check(policy)


@pytest.mark.parametrize("policy", available(), ids=lambda item: item.name)
def test_a_policy_has_a_test_file_of_its_own(policy: type[Policy]) -> None:
    module = policy.__module__.rpartition(".")[2]
    assert (Path(__file__).parent / f"test_{module}.py").is_file()


def test_the_policies_of_the_paper_are_found_lsa_first_and_yardsticks_last() -> None:
    names = [policy.name for policy in available()]
    competitors = [policy.name for policy in available() if not policy.yardstick]
    assert names[: len(competitors)] == competitors
    assert competitors[0] == "LSA"
    assert set(competitors) >= {"LSA", "APT", "Opt-KG", "UCBE", "Uniform"}
