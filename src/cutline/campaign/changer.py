"""What is done with a campaign as a whole: change it, rename it, copy it, delete it."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Self, Unpack

from cutline.campaign.operations.changing import changing, creation
from cutline.campaign.operations.changing.changing import Roster
from cutline.campaign.operations.changing.creation import Arms
from cutline.campaign.operations.upkeep import later
from cutline.campaign.reader import Reader
from cutline.campaign.results import Change
from cutline.campaign.settings import Changes


class Changer(Reader):
    """The part of a Campaign that changes what it was created with, while others ask and tell.

    Whoever has the campaign open follows the change from his next call on.
    """

    def change(
        self,
        *,
        add: Arms = (),
        retire: Iterable[str] = (),
        bring_back: Iterable[str] = (),
        known: Mapping[str, bool] | None = None,
        forget: Iterable[str] = (),
        exclude: Iterable[str] = (),
        readmit: Iterable[str] = (),
        **settings: Unpack[Changes],
    ) -> list[Change]:
        """Change settings, arms and workers, and return what has changed: what is not given, or is so already, stays.

        ``budget``: not less than what is spent and in flight; with more, a finished campaign goes on. ``question``,
        ``labels`` and ``keys`` stand on pages to label on from the next item on. ``threshold``, ``policy``,
        ``max_pulls_per_arm``, ``prior``, ``decide``, ``workers`` and ``excluded`` change what all arms are called and
        which is next. This is made anew in short transactions, and done when the method returns: until then an ask may
        follow the old order of arms, never beyond the new ``max_pulls_per_arm``, and no campaign ends by its
        ``target_errors``. If the process dies, whoever asks or tells goes on with it. Every change is kept: see
        ``history``.

        ``add``: ids, or ids with payloads, as ``create`` takes them. Those that are new are added; of those that are
        there a payload replaces the one they have. ``retire``: arms that are asked for no more, and are in no decision
        unless it is asked for; their results stay, and what is in flight of them can be told. ``bring_back``: retired
        arms that take part again. ``known``: arms whose answer is known from now on; ``forget``: arms whose answer is
        known no more. ``exclude``: workers whose results weigh nothing from now on, and who get no more arms;
        ``readmit``: workers who are excluded no more. Others stay as they are, while ``excluded`` is the whole list, of
        any names. Settings and workers are changed first, all at once; the arms follow in short transactions.

        Raises InvalidInputError for a bad setting or one that cannot be changed, and for bad arms, NotFoundError for an
        arm that there is not, and for a worker to exclude or readmit who has never been asked nor answered,
        ConflictError for a budget that is too small. Then nothing has changed.
        """
        wanted = Roster(add, retire, bring_back, known, forget, exclude, readmit)
        return changing.change(self._store, self._identity, self._clock, settings, wanted)

    def learning_later(self) -> AbstractContextManager[Callable[[], None]]:
        """Have asks and tells of this object learn nothing while this goes on, but what it yields do so when called.

        So a run with several jobs learns when all are at work. When this ends, all is learnt that it is time for.
        """
        return later.put_off(self._store, self._identity, self._clock)

    def rename(self, name: str) -> None:
        """Give the campaign another name. Raises ConflictError if it is taken, InvalidInputError for a bad one."""
        changing.rename(self._store, self._identity, self._clock, name)

    def copy(self, name: str, results: bool = True) -> Self:
        """Make another campaign of this name with the same arms and settings, in the same database, and return it.

        ``results``: with the results that there are, told ones, which count for its budget, and those from elsewhere.
        They keep their keys, so that an export of the one is no news to the other. What is in flight is not copied.
        It is seen by others when it is whole. Raises what ``create`` raises.
        """
        from cutline.campaign.operations.changing import copying  # loads NumPy

        made = copying.copy(self._store, self._identity, self._clock, name, results)
        return type(self)(self._store.share(), made, self._clock)

    def delete(self) -> None:
        """Delete the campaign and all that it holds; whoever has it open gets NotFoundError from then on."""
        creation.delete(self._store, self._identity)
