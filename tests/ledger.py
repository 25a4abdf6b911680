"""What the tables of a campaign hold, read without the code that writes them."""

import json
import math
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

from sqlalchemy import text

from cutline.campaign import Campaign
from cutline.campaign.remote.campaign import RemoteCampaign

UNDECIDED = 2
LEASED, TOLD, ABANDONED, EXPIRED, OBSERVED, WITHDRAWN = range(6)
STRIDE = 2**40
ARMS = (
    "number - {base}, name, payload, position, pulls, total, squares, in_flight, index_value, evidence, "
    "known, retired, generation, decision, doubt"
)
PULLS = "number - {base}, arm - {base}, state, expires, reward, worker, key, note, time"
CAMPAIGN = (
    "name, threshold, policy, budget, seed, max_pulls_per_arm, repeat_workers, prior_a, prior_b, target_errors, "
    "decide, workers, excluded, known_rate, retired, generation, learnt_from, learn_at, up_to_date, "
    "arms, numbered, spent, in_flight, observed, "
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
    out = campaign.settings.excluded
    heard = {arm for _, arm, _, _, reward, worker, *_ in pulls if reward is not None and worker not in out}
    assert decided == sum((arm[0] in heard or arm[-5] is not None) and not arm[-4] for arm in arms)
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
    if campaign.settings.weighed:
        _audit_evidence(campaign, arms, pulls, heard, generation if up_to_date == count else None)


def _audit_evidence(
    campaign: Campaign,
    arms: list[tuple[Any, ...]],
    pulls: list[tuple[Any, ...]],
    heard: set[int],
    generation: int | None,
) -> None:
    """Assert that evidence, index and doubt of each arm follow from its results and from the fit written down.

    ``heard``: the arms with results of workers who are not excluded. ``generation``: that of all arms, None while they
    still follow; then an index may be between two fits.
    """
    fits = crowds(campaign)
    for number, _, _, _, had, _, _, leased, index, evidence, known, retired, own, decision, doubt in arms:
        crowd = fits[own]
        each = [(worker, reward) for _, arm, _, _, reward, worker, *_ in pulls if arm == number and reward is not None]
        assert evidence == sum(added(campaign, crowd, worker, reward) for worker, reward in each)
        sure = crowd.get("sureness", 1.0) * abs(log_odds(crowd, evidence, had))
        wrong = crowd["mistaken"] + (1 - 2 * crowd["mistaken"]) / (1 + math.exp(min(sure, 700)))
        if retired or known is not None:
            assert (index, doubt) == (math.inf, 0)
            assert decision == (UNDECIDED if retired else known)
            continue
        assert abs(doubt - wrong * 10**12) <= 1
        assert decision == (UNDECIDED if number not in heard else int(log_odds(crowd, evidence, had) >= -1e-9))
        if generation == own and math.isfinite(index):
            n = had + leased
            expected = log_odds(crowd, Fraction(evidence, had) * n if had else Fraction(0), n)
            assert math.isclose(index, abs(expected) + 0.5 * math.log(n), rel_tol=1e-12)


def log_odds(crowd: dict[str, Any], evidence: int | Fraction, labels: int) -> float:
    """The log odds that the truth of an arm with so many labels is yes."""
    return float(crowd["prior"] + evidence / (1 + max(labels - 1, 0) * Fraction(crowd["correlation"]))) / 10**9


def crowds(campaign: Campaign) -> dict[int, dict[str, Any]]:
    """What was written down of the workers, by generation; before the first fit each is right 8 times in 11."""
    query = "SELECT generation, knowledge FROM cutline_learnt WHERE campaign_id = :campaign"
    before = round(10**9 * math.log(8 / 3))
    first = {"workers": [], "anybody": [-before, before], "prior": 0, "mistaken": 0.1, "correlation": 0.0}
    return {0: first} | {number: json.loads(known).get("crowd", first) for number, known in rows(campaign, query)}


def added(campaign: Campaign, crowd: dict[str, Any], worker: str | None, reward: int) -> int:
    """What a reward by a worker adds to the evidence on its arm, in whole billionths."""
    weights = {name: weight for name, *weight in crowd["workers"]} | dict.fromkeys(campaign.settings.excluded, (0, 0))
    no, yes = weights.get(worker, crowd["anybody"])
    return math.floor(Fraction(no * (10**9 - reward) + yes * reward, 10**9) + Fraction(1, 2))
