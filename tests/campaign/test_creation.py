"""The order of equal arms."""

import time
from collections import Counter
from pathlib import Path

from campaign_contract.campaigns import arms
from cutline.campaign.campaign import Campaign
from cutline.campaign.database.store import Store
from cutline.campaign.operations import creation
from cutline.campaign.settings import Settings, check_policy


def test_equal_arms_are_first_equally_often_over_many_seeds(tmp_path: Path) -> None:
    seeds, count = 500, 5
    first: Counter[str] = Counter()
    with Store.connect(tmp_path / "campaigns.db", create=True) as store:
        for seed in range(seeds):
            settings = Settings(0.5, check_policy("LSA"), 10, seed=seed)
            book = creation.create(store, f"seed {seed}", arms(count), settings)
            first[Campaign(store, book, time.time).ask()[0].arm] += 1

    def fits(seen: list[int]) -> bool:
        chi_square = sum((n - seeds / count) ** 2 for n in seen) / (seeds / count)
        return chi_square < 33.38  # exceeded with probability 1e-6 by chi-square with 4 degrees of freedom

    assert fits([first[arm] for arm in arms(count)])
    assert not fits([167, 83, 83, 83, 84])  # the first arm has twice the chance
