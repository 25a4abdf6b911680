"""What is done unless a user says otherwise, where more than one room must agree on it. Imports nothing."""

POLICY = "Lai"
"""The policy of a new campaign, a plan and a replay; docs/policies.md says why. `simulate` has LSA, as the paper."""
