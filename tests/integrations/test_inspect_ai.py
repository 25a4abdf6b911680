"""A campaign that drives an eval of Inspect, held against a stand-in that calls its sources as Inspect does.

inspect-ai itself brings a hundred packages; docs/evals_inspect.py runs the real one.
"""

import asyncio
import sys
from collections import Counter
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from cutline import Campaign, InvalidInputError
from cutline.errors import MissingDependencyError
from cutline.integrations.inspect_ai import campaign_samples

SAMPLES = [SimpleNamespace(id=name) for name in ("good", "bad", "odd")]
VALUES = {"C": 1.0, "I": 0.0}


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, int]]:
    """Put the stand-in in the place of inspect-ai; return the samples that are to run."""
    waiting: list[tuple[Any, int]] = []
    inspect, scorer = ModuleType("inspect_ai"), ModuleType("inspect_ai.scorer")
    source = SimpleNamespace(from_samples=lambda first, **calls: SimpleNamespace(first=first, **calls))
    vars(inspect).update(
        SampleSource=source, enqueue_sample=lambda sample, epoch: waiting.append((sample, epoch)), scorer=scorer
    )
    vars(scorer).update(value_to_float=lambda: VALUES.__getitem__)
    monkeypatch.setitem(sys.modules, "inspect_ai", inspect)
    monkeypatch.setitem(sys.modules, "inspect_ai.scorer", scorer)
    return waiting


def play(source: Any, queue: list[tuple[Any, int]], answers: dict[str, str | None]) -> Counter[str]:
    """Run all samples as Inspect does; return how many epochs each had. An answer None is an error."""
    queue += [(sample, 1) for sample in source.first]
    epochs: Counter[str] = Counter()
    while queue:
        sample, epoch = queue.pop(0)
        epochs[sample.id] += 1
        assert epoch == epochs[sample.id]
        answer = answers[sample.id]
        scores = {"includes": SimpleNamespace(value=answer)}
        asyncio.run(
            source.sample_complete(SimpleNamespace(id=sample.id, epoch=epoch, error=answer is None, scores=scores))
        )
    assert asyncio.run(source.next_samples()) is None
    return epochs


@pytest.mark.parametrize("at_once", [1, 3])
def test_an_eval_spends_the_budget_of_the_campaign_and_tells_it_every_score(
    queue: list[tuple[Any, int]], at_once: int
) -> None:
    with Campaign.create(None, "eval", ["good", "bad", "odd"], 0.5, "LSA", 12) as campaign:
        epochs = play(
            campaign_samples(campaign, SAMPLES, at_once=at_once), queue, {"good": "C", "bad": "I", "odd": "C"}
        )
        assert sum(epochs.values()) == 12
        told = {item.arm: (item.pulls, item.mean) for item in campaign.decisions()}
    assert told == {"good": (epochs["good"], 1.0), "bad": (epochs["bad"], 0.0), "odd": (epochs["odd"], 1.0)}


def test_a_sample_that_ends_with_an_error_is_not_asked_for_again(queue: list[tuple[Any, int]]) -> None:
    with Campaign.create(None, "eval", ["good", "bad", "odd"], 0.5, "LSA", 9) as campaign:
        epochs = play(campaign_samples(campaign, SAMPLES, at_once=1), queue, {"good": "C", "bad": "I", "odd": None})
        assert (epochs["odd"], epochs["good"] + epochs["bad"]) == (1, 9)


def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with Campaign.create(None, "eval", ["good"], 0.5, "LSA", 9) as campaign, pytest.raises(ImportError) as caught:
        campaign_samples(campaign, SAMPLES)
    assert type(caught.value) is MissingDependencyError
    assert str(caught.value) == (
        "an eval of Inspect that a campaign drives needs inspect-ai 0.3.285 or newer: pip install -U inspect-ai"
    )


def test_a_sample_without_an_id_is_refused(queue: list[tuple[Any, int]]) -> None:
    with Campaign.create(None, "eval", ["good"], 0.5, "LSA", 9) as campaign, pytest.raises(InvalidInputError) as caught:
        campaign_samples(campaign, [SimpleNamespace(id=None)])
    assert str(caught.value) == "a sample has no id; each must have one, which is its arm"
    assert queue == []
