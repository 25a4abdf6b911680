"""What the tables of a campaign hold, read without the code that writes them."""

from collections import Counter, defaultdict
from typing import Any

from sqlalchemy import text

from cutline.campaign import Campaign
from cutline.campaign.remote.campaign import RemoteCampaign

LEASED, TOLD, ABANDONED, EXPIRED, OBSERVED, WITHDRAWN = range(6)
STRIDE = 2**40
ARMS = (
    "number - {base}, name, payload, position, pulls, total, squares, in_flight, index_value, retired, "
    "generation, decision, doubt"
)
PULLS = "number - {base}, arm - {base}, state, expires, reward, worker, key, note, time"
CAMPAIGN = (
    "name, threshold, policy, budget, seed, max_pulls_per_arm, repeat_workers, prior_a, prior_b, target_errors, "
    "decide, retired, generation, learnt_from, learn_at, up_to_date, arms, numbered, spent, in_flight, observed, "
    "doubt, decided"
)


BEHIND: dict[str, str] = {}
"""The database of each server that tests have started, by its address."""


def local(campaign: Campaign) -> Campaign:
    """Return the campaign, or if it is on a server the same in the server's database."""
    if not isinstance(campaign, RemoteCampaign):
        return campaign
    return Campaign.open(BEHIND[campaign._connection.address], campaign.name)


def rows(campaign: Campaign, query: str) -> list[tuple[Any, ...]]:
    """Run a query about this campaign: ``:campaign`` is its id."""
    campaign = local(campaign)
    return campaign._store.read(
        lambda connection: [tuple(row) for row in connection.execute(text(query), {"campaign": campaign._identity.id})]
    )


def dump(campaign: Campaign) -> list[list[tuple[Any, ...]]]:
    """All that a campaign holds, but for what tells it from others: its id and the token in the ids of its pulls."""
    campaign = local(campaign)
    arms, pulls = (columns.format(base=campaign._identity.id * STRIDE) for columns in (ARMS, PULLS))
    return [
        rows(campaign, f"SELECT {CAMPAIGN} FROM cutline_campaigns WHERE id = :campaign"),
        rows(campaign, f"SELECT {arms} FROM cutline_arms WHERE campaign_id = :campaign ORDER BY number"),
        rows(campaign, f"SELECT {pulls} FROM cutline_pulls WHERE campaign_id = :campaign ORDER BY number"),
    ]


def under_way(campaign: Campaign) -> tuple[Any, ...]:
    """How many imports are under way in the database, and of how many arms and pulls they change something."""
    (counts,) = rows(
        campaign,
        "SELECT (SELECT count(*) FROM cutline_imports), (SELECT count(*) FROM cutline_import_arms), "
        "(SELECT count(*) FROM cutline_import_pulls)",
    )
    return counts


def audit(campaign: Campaign) -> None:
    """Assert that every sum that the tables keep is the sum of what they hold, and that the budget was kept."""
    (own,), arms, pulls = dump(campaign)
    *_, retired, generation, _, _, up_to_date, count, numbered, spent, in_flight, observed, doubt, decided = own
    states = [state for _, _, state, *_ in pulls]
    assert (spent, in_flight, observed) == (states.count(TOLD), states.count(LEASED), states.count(OBSERVED))
    assert spent + in_flight <= campaign.settings.budget
    numbers = [number for number, *_ in pulls]
    assert sorted(set(numbers)) == numbers  # an import that was undone leaves gaps
    assert all(1 <= number <= numbered for number in numbers)
    assert set(states) <= set(range(WITHDRAWN + 1))
    assert (count, doubt) == (len(arms), sum(arm[-1] for arm in arms))
    assert decided == sum(arm[4] > 0 and not arm[-4] for arm in arms)
    assert retired == sum(arm[-4] for arm in arms)
    assert all(arm[-1] == 0 for arm in arms if arm[-4])
    generations = [arm[-3] for arm in arms]
    assert max(generations) <= generation
    assert set(generations[:up_to_date]) <= {generation}
    rewards: dict[int, list[int]] = defaultdict(list)
    flying: Counter[int] = Counter()
    for _, arm, state, expires, reward, _, _, note, _ in pulls:
        assert (expires is not None) == (state == LEASED)
        assert (reward is not None) == (state in (TOLD, OBSERVED))
        assert note is None or state in (TOLD, OBSERVED, WITHDRAWN)
        flying[arm] += state == LEASED
        if reward is not None:
            rewards[arm].append(reward)
    assert under_way(campaign) == (0, 0, 0)
    for number, _, _, _, had, total, squares, leased, *_ in arms:
        assert (had, total, leased) == (len(rewards[number]), sum(rewards[number]), flying[number])
        assert squares == sum((2 * reward**2 + 10**9) // (2 * 10**9) for reward in rewards[number])
