"""The contract that every policy must keep, as tests that pytest runs; Cutline's own policies go through the same.

In a test file of the package that has the policy::

    import pytest
    from cutline.testing import PolicyContract
    from my_package import MyPolicy

    @pytest.mark.parametrize("policy", [MyPolicy])
    class TestContract(PolicyContract):
        pass

docs/new_policy.md has the whole package.
"""

from cutline.testing.contract import PolicyContract
from cutline.testing.games import BUDGET, PROBLEM, THRESHOLDS, parameters, records

__all__ = ["BUDGET", "PROBLEM", "THRESHOLDS", "PolicyContract", "parameters", "records"]
