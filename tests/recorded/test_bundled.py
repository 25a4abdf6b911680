"""The sets that ship with the package."""

import numpy as np
import pytest

from cutline.errors import NotFoundError
from cutline.recorded import bundled


def test_bluebirds_is_the_set_that_its_source_describes() -> None:
    """4,212 labels, 108 tasks, 39 workers and 48 positives: Welinder et al. 2010; the rest by counting its files."""
    observations, gold = bundled.load("bluebirds")
    assert (len(observations), len(observations.tasks), len(set(observations.workers))) == (4212, 108, 39)
    assert set(gold) == set(observations.tasks)
    assert sum(gold.values()) == 48
    yes = np.bincount(observations.task, observations.labels)
    assert np.bincount(observations.task).tolist() == [39] * 108
    right = sum(gold[task] == (2 * count >= 39) for task, count in zip(observations.tasks, yes, strict=True))
    assert right == 82


def test_every_set_keeps_its_licence_and_says_where_it_is_from() -> None:
    assert bundled.names() == ("bluebirds",)
    for name in bundled.names():
        assert (bundled.folder(name) / "LICENSE").read_text().startswith("Copyright (c)")
        assert "Source: " in (bundled.folder(name) / "NOTICE").read_text()


@pytest.mark.parametrize("name", ["bluebird", "", "..", "../data/bluebirds", "bluebirds/labels.csv"])
def test_an_unknown_set_is_refused_with_those_that_exist(name: str) -> None:
    with pytest.raises(NotFoundError, match="there is bluebirds"):
        bundled.load(name)
