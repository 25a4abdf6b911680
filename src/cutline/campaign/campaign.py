"""A campaign: which arm to measure next, what came back, what is decided."""

import os
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, TypeGuard, Unpack

from cutline.campaign.changer import Changer
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.connecting.address import Url, is_service
from cutline.campaign.database.identity import read_identities, read_identity
from cutline.campaign.database.rows import counters
from cutline.campaign.database.store import Store
from cutline.campaign.operations.asking import asking, leases
from cutline.campaign.operations.asking.wanted import Wanted
from cutline.campaign.operations.changing import creation
from cutline.campaign.operations.changing.creation import Arms
from cutline.campaign.operations.observing import observing
from cutline.campaign.operations.telling import correcting, telling
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.operations.upkeep.finishing import end_dead
from cutline.campaign.results import Observation, Pull, Pulls, Status
from cutline.campaign.settings import Expected, Making, Settings
from cutline.defaults import POLICY
from cutline.errors import ConflictError, InvalidInputError
from cutline.policies import Policy

if TYPE_CHECKING:
    from cutline.campaign.running.batch_sizes import BatchSize
    from cutline.campaign.running.commands.batch_command import BatchCommand
    from cutline.campaign.running.in_flight import RunReport
    from cutline.campaign.running.measuring import AsyncMeasure, Measure, MeasureBatch
    from cutline.campaign.running.options import RunOptions


class Campaign(Changer):
    """One campaign in a database, made by ``create`` or ``open``; any number of processes may use it at once.

    Every method is one short transaction: it has happened when the method returns, and if the process dies before,
    it has not. Methods raise StoreError if the database fails (full, read-only, out of reach), which changes
    nothing, and NotFoundError if the campaign has been deleted. A campaign may be shared between threads.
    """

    @classmethod
    def create(
        cls,
        url: Url | None,
        name: str,
        arms: Arms,
        threshold: float,
        policy: Policy | str = POLICY,
        budget: int | None = None,
        *,
        clock: Callable[[], float] | None = None,
        token: str | None = None,
        **options: Unpack[Making],
    ) -> "Campaign":
        """Create a campaign and return it; the database is made where there is none. ``url`` None: in memory.

        With the address of a server (see cutline serve) it is made there; ``token``, by default what the environment
        variable CUTLINE_TOKEN holds, is what lets in there. ``arms`` are the ids, in order: any text without NUL, kept
        as it stands, each alone or with a payload that JSON can write; they are read one by one. ``policy`` decides
        which arm is next; arms with equal indices follow an order drawn with ``seed``. ``budget``, which has to be
        given, is the number of pulls that may be asked for. The other options stand in ``Making``. ``clock`` is for
        tests: it returns seconds since 1970 in UTC, instead of the database's clock.

        Raises InvalidInputError for a bad argument (an id that comes twice, a policy that needs the truth or the
        budget), ConflictError if the name is taken, StoreError if the database fails. Then nothing is created.
        """
        given: dict[str, Any] = dict(options)
        known = given.pop("known", None)
        settings = Settings(threshold, policy, budget, **given)  # type: ignore[arg-type]  # Settings parses it
        if _is_served(url, token, clock):
            from cutline.campaign.remote.campaign import RemoteCampaign

            return RemoteCampaign.make(url, token, name, arms, settings, known)
        store = Store.connect(url, create=True)
        try:
            return cls(store, creation.create(store, name, arms, settings, Clock(clock), known), Clock(clock))
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(
        cls,
        url: Url,
        name: str,
        *,
        arms: Arms | None = None,
        clock: Callable[[], float] | None = None,
        token: str | None = None,
        **expected: Unpack[Expected],
    ) -> "Campaign":
        """Return the campaign of that name, in a database or, with ``token`` as in ``create``, on a server.

        ``arms``, threshold, policy, budget and the options mean what they mean in ``create``. Whatever is given is held
        against what is stored; the arms may come in any order. Raises ConflictError that names the fields that
        differ with both values (of the arms, one that is new or missing); NotFoundError if there is no such
        database or campaign; StoreError if the database is of a newer version; AccessError if a server does not let in.
        """
        if _is_served(url, token, clock):
            from cutline.campaign.remote.campaign import RemoteCampaign

            return RemoteCampaign.reach(url, token, name, arms, dict(expected))
        store = Store.connect(url, create=False)
        try:
            campaign = read_identity(store, name)
            end_dead(store, campaign)
            learning.decide_after_upgrade(store, campaign, Clock(clock))
            campaign.settings.require(dict(expected))
            if arms is not None:
                creation.require_arms(store, campaign, arms)
        except ConflictError as error:
            store.close()
            raise ConflictError(f"campaign {name!r}: {error}") from None
        except BaseException:
            store.close()
            raise
        return cls(store, campaign, Clock(clock))

    def ask(
        self,
        n: int = 1,
        worker: str | None = None,
        lease: float = 600.0,
        without: Collection[str] = (),
        distinct: bool = False,
        request: str | None = None,
    ) -> Pulls:
        """Lease up to ``n`` pulls for ``lease`` seconds and return them, chosen as by n asks for one.

        A tuple, shorter than n if fewer can be had; ``reason`` then says why (see Reason). A pull's arm has the
        smallest index with its pulls in flight counted as if they will repeat the arm's mean (the threshold, while
        it has no rewards). A ``worker`` never gets an arm that it has, has answered or has abandoned, unless the
        campaign repeats workers; without a worker there is no such limit. The arms ``without`` are passed over, as if
        the worker had them. ``distinct``: no arm twice among the n, for a batch in which each is measured once. A lease
        that has ended gives its place in the budget back.

        A ``request`` is an id that the caller makes up for this ask, so that it can be repeated if its answer is lost:
        the same id again leases nothing, it gives the same pulls, also those that have been told, abandoned, or whose
        lease has ended meanwhile. An ask that got nothing is not kept, others for a day after their leases end.

        Raises InvalidInputError unless n >= 1 and lease > 0, and for an id alone in ``without``; ConflictError for a
        request id that another number of pulls, or another worker, was asked for with.
        """
        wanted = Wanted(n, worker, lease, without, distinct, request)
        return asking.ask(self._store, self._identity, self._clock, wanted)

    def tell(self, pull: Pull | str, reward: float, note: str | None = None) -> bool:
        """Record the reward of a pull (or its id): a number in [0, 1] or a boolean. Return whether it is new.

        Rewards are kept to nine decimals. A ``note`` is text that is kept with the reward: an answer, how many tokens,
        the name of a file. Telling the same reward again changes nothing, whatever its note, and returns False; to
        replace it there is ``correct``. A tell after the lease has ended counts while there is room for it: in the
        budget, at the arm (with ``max_pulls_per_arm``), and with the worker, which may have got the arm again. Else it
        is refused; but what the worker has answered in another way since is no news.

        Raises ConflictError for another reward than the one told, an abandoned pull, or a place that is gone;
        NotFoundError for an unknown pull; InvalidInputError for a bad reward. Then nothing has changed.
        """
        return telling.tell(self._store, self._identity, self._clock, [(pull, reward, note)]) == 1

    def tell_many(self, rewards: Iterable[tuple[Pull | str, float] | tuple[Pull | str, float, str | None]]) -> int:
        """Record many (pull, reward) or (pull, reward, note) as by ``tell``, all or none; return how many are new."""
        return telling.tell(self._store, self._identity, self._clock, list(rewards))

    def correct(self, pull: Pull | str, reward: float, note: str | None = None, worker: str | None = None) -> bool:
        """Replace the reward of a pull that has been told; return whether that changed anything.

        The old reward and note stay in the history of the arm (see ``arm``), with when and by whom they were replaced:
        ``worker``, by default the one whose pull it is. Without a ``note`` the note stays, an empty one removes it. It
        costs no budget, and can be done after the campaign has finished; if that was because of its target, it may go
        on then.

        Raises ConflictError for a pull without a reward, and for a result from elsewhere: that is corrected where it
        comes from, and imported again; NotFoundError for an unknown pull, InvalidInputError for a bad reward.
        """
        return correcting.correct(self._store, self._identity, self._clock, pull, reward, note, worker)

    def abandon(self, pull: Pull | str) -> None:
        """Give a pull back without a reward ("cannot say"): its arm is free, and the budget has its place back.

        Its worker does not get the arm again (unless workers repeat). Abandoning again changes nothing. Raises
        ConflictError if the pull has been told, NotFoundError for an unknown pull.
        """
        leases.abandon(self._store, self._identity, self._clock, pull)

    def extend(self, pull: Pull | str, lease: float) -> float:
        """Make a lease end ``lease`` seconds from now, and return when that is.

        Raises ConflictError if the pull has been told or abandoned or its lease has ended, NotFoundError for an
        unknown pull, InvalidInputError unless lease > 0.
        """
        return leases.extend(self._store, self._identity, self._clock, pull, lease)

    def observe(
        self,
        arm: str,
        reward: float,
        worker: str | None = None,
        key: str | None = None,
        note: str | None = None,
        add_arms: bool = False,
    ) -> bool:
        """Record a result from elsewhere; return whether it is new. It is paid for already: it costs no budget.

        A ``note`` is text that is kept with it. ``add_arms``: an arm that there is not is added before.

        It counts as a result of the arm in everything else: the index, ``max_pulls_per_arm``, the decision, and the
        arms that its ``worker`` has answered. A ``key`` makes it idempotent: the same key again with the same arm
        and reward changes nothing. The id of a pull of this campaign is its key, so an exported result that is
        observed again is no news either. A worker answers an arm once, unless the campaign repeats workers: the same
        answer again, told or observed, is no news, and that of a pull in flight is recorded as told. Raises
        NotFoundError for an unknown arm, ConflictError for a key that holds another arm or reward or a worker's other
        answer, InvalidInputError for a bad reward.
        """
        return self.observe_many([Observation(arm, reward, worker, key, note)], add_arms) == 1

    def observe_many(self, observations: Iterable[Observation | tuple[Any, ...]], add_arms: bool = False) -> int:
        """Record many results in one transaction, all or none; return how many are new. Each as by ``observe``.

        An observation is (arm, reward) and may have more: (arm, reward, worker, key, note). ``add_arms``: arms that
        there are not are added before, and stay if the results are refused.
        """
        return observing.observe(self._store, self._identity, self._clock, observations, add_arms)

    def run(self, measure: "Measure", jobs: int = 1, **options: Unpack["RunOptions"]) -> "RunReport":
        """Measure until the campaign has finished, ``jobs`` arms at a time; see ``runner.run``."""
        from cutline.campaign.running.runner import run

        return run(self, measure, jobs, **options)

    async def arun(self, measure: "AsyncMeasure", jobs: int = 1, **options: Unpack["RunOptions"]) -> "RunReport":
        """Measure with a coroutine function until the campaign has finished; see ``asynchronous.arun``."""
        from cutline.campaign.running.asynchronous import arun

        return await arun(self, measure, jobs, **options)

    def run_batches(
        self,
        measure: "MeasureBatch | BatchCommand",
        batch: "BatchSize" = "auto",
        jobs: int = 1,
        **options: Unpack["RunOptions"],
    ) -> "RunReport":
        """Measure many arms at once until the campaign has finished; see ``runner.run_batches``."""
        from cutline.campaign.running.runner import run_batches

        return run_batches(self, measure, batch, jobs, **options)


def campaigns(url: Url, clock: Callable[[], float] | None = None, token: str | None = None) -> list[Status]:
    """Return the status of every campaign in a database, or on a server, by name; raise NotFoundError if there is none.

    ``token`` as in ``Campaign.create``.
    """
    if _is_served(url, token, clock):
        from cutline.campaign.remote.databases import remote_campaigns

        return remote_campaigns(url, token)
    with Store.connect(url, create=False) as store:
        return [counters.status(store, campaign, Clock(clock)) for campaign in read_identities(store)]


def delete(url: Url, name: str, token: str | None = None) -> None:
    """Delete a campaign and all that it holds; raise NotFoundError if there is none of that name."""
    if _is_served(url, token):
        from cutline.campaign.remote.databases import remote_delete

        return remote_delete(url, token, name)
    with Store.connect(url, create=False) as store:
        creation.delete(store, read_identity(store, name))


def backup(url: Url, out: str | os.PathLike[str], token: str | None = None) -> int:
    """Copy a whole SQLite database, as it is at one moment, to a file, while others use it; return its size in bytes.

    A file of that name is replaced when the copy is whole. With the address of a server, and an owner's token, it is
    the server's database. Raises NotFoundError if there is no database,
    InvalidInputError for PostgreSQL, of which pg_dump makes a backup, and for a file that cannot be written.
    """
    if _is_served(url, token):
        from cutline.campaign.remote.databases import remote_backup

        return remote_backup(url, token, out)
    from cutline.campaign.operations.reading.backup import backup as copy

    with Store.connect(url, create=False) as store:
        return copy(store, out)


def _is_served(url: Url | None, token: str | None, clock: object = None) -> TypeGuard[str]:
    """Tell whether a url is that of a server; raise InvalidInputError for what does not go with it."""
    served = is_service(url)
    if token is not None and not served:
        raise InvalidInputError("a token is for a server, http://host:port; a database has none")
    if clock is not None and served:
        raise InvalidInputError("a server has its own clock; leave out clock")
    return served
