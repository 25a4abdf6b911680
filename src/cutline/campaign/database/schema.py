"""The tables. Whatever changes here needs a new file in migrations/versions, and HEAD its number: a new database gets
the tables as they stand here (see tables.py), an older one by the migrations, and a test holds the two together.

Rows are written by this package alone, and always all that belong together in one transaction; foreign keys would
have the database look up at every pull what is known already.

Ids, workers and keys may be thousands of characters long, more than PostgreSQL can index: the indexes hold digests.

The arms and the pulls of campaign c have the numbers from c * STRIDE on, and digests are salted with the campaign's id:
so the primary key and the digests find a row without the campaign's id, and those indexes do not hold it. An index that
begins with the id would be chosen for any query about a campaign where the database has no statistics (SQLite never
has), and then a query for one row reads all rows of the campaign.
"""

import hashlib

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
)

HEAD = "0010"
"""The schema version that this code reads and writes."""

VERSION_TABLE = "cutline_version"

STRIDE = 2**40
"""No campaign comes to have more pulls than that."""

LEASED, TOLD, ABANDONED, EXPIRED, OBSERVED, WITHDRAWN, STAGED = range(7)
"""The states of a pull. One whose lease has ended is EXPIRED from the next ask on; WITHDRAWN is a result from elsewhere
that an import has replaced, STAGED one that counts as OBSERVED as soon as its import is decided."""

BELOW, ABOVE, UNDECIDED, NOT_KNOWN = range(4)
"""What is decided of an arm; NOT_KNOWN until the first time that it is written after an upgrade of the database."""

_NUMBER = BigInteger().with_variant(Integer, "sqlite")  # INTEGER is what makes it SQLite's own row number

COUNTERS = ("numbered", "spent", "in_flight", "observed", "doubt", "decided")
"""The columns of a campaign that change: its pulls so far, told or not; those told, leased and from elsewhere; the sum
of its arms' doubt; and how many arms are decided, because they have results."""

metadata = MetaData()

campaigns = Table(
    "cutline_campaigns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("token", Text, nullable=False),  # in the ids of pulls, so that no other campaign takes them for its own
    Column("threshold", Double, nullable=False),
    Column("policy", Text, nullable=False),
    Column("budget", BigInteger, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("max_pulls_per_arm", BigInteger),
    Column("repeat_workers", Boolean, nullable=False),
    Column("prior_a", Double),  # null, as prior_b, if the prior is learnt
    Column("prior_b", Double),
    Column("decide", Text, nullable=False),
    Column("target_errors", Double),
    Column("question", Text),  # null, as the next four, for what the server asks
    *(Column(name, Text) for name in ("labels_a", "labels_b", "keys_a", "keys_b")),
    Column("workers", Text, nullable=False),
    Column("excluded", Text, nullable=False),  # JSON
    Column("known_rate", Double, nullable=False),
    Column("arms", BigInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in COUNTERS),
    Column("generation", BigInteger, nullable=False),  # of what has been learnt; see learning.py
    Column("changed_at", BigInteger, nullable=False),  # the generation with which index and doubt had new settings
    Column("learnt_from", BigInteger, nullable=False),  # results at that time
    Column("learn_at", BigInteger),  # results at which it is time again; null for never
    Column("up_to_date", BigInteger, nullable=False),  # so many arms, the first, follow what has been learnt
    Column("version", BigInteger, nullable=False),  # so many changes have been made; see cutline_changes
    Column("retired", BigInteger, nullable=False),  # arms that are
    Column("unfinished_until", Double),  # null but while an import makes the campaign; then nobody else sees it
    sqlite_autoincrement=True,  # the id of a deleted campaign must not come back while somebody still holds it
)

clock = Table(
    "cutline_clock",  # one row; see clock.py
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("boot", Text, nullable=False),
    Column("began", Double, nullable=False),
    Column("latest", Double, nullable=False),
)

sources = Table(
    "cutline_sources",  # files whose rows are known by their place in them, as the name of the file and its path
    metadata,
    Column("name_digest", LargeBinary, primary_key=True),
    Column("campaign_id", Integer, nullable=False),
    Column("path", Text, nullable=False),
)

imports = Table(
    "cutline_imports",  # the import that is under way in a campaign; see imports.py
    metadata,
    Column("campaign_id", Integer, primary_key=True, autoincrement=False),
    Column("token", Text, nullable=False),  # of who is at work on it
    Column("until", Double, nullable=False),  # after that time he counts as dead
    Column("first", BigInteger, nullable=False),  # the first number that its pulls may have
    Column("decided", Boolean, nullable=False),
)

import_arms = Table(
    "cutline_import_arms",  # by how much an import changes the counts of an arm
    metadata,
    Column("arm", _NUMBER, primary_key=True, autoincrement=False),
    Column("pulls", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("squares", BigInteger, nullable=False),
    Column("in_flight", BigInteger, nullable=False),
)

import_pulls = Table(
    "cutline_import_pulls",  # what an import makes of a pull that was there before it
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("state", SmallInteger, nullable=False),  # TOLD, OBSERVED or WITHDRAWN
    Column("reward", BigInteger),
    Column("note", Text),
    Column("time", Double),
)

learnt = Table(
    "cutline_learnt",  # what was learnt, when, and from how many results; rows never change
    metadata,
    Column("campaign_id", Integer, primary_key=True, autoincrement=False),
    Column("generation", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("results", BigInteger, nullable=False),
    Column("knowledge", Text, nullable=False),
)

changes = Table(
    "cutline_changes",  # what was changed of a campaign after it was made
    metadata,
    Column("campaign_id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("what", Text, nullable=False),
    Column("before", Text, nullable=False),  # JSON
    Column("after", Text, nullable=False),  # JSON
)

arms = Table(
    "cutline_arms",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("campaign_id", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("name_digest", LargeBinary, nullable=False),
    Column("payload", Text),
    Column("position", BigInteger, nullable=False),
    Column("pulls", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("squares", BigInteger, nullable=False),
    Column("in_flight", BigInteger, nullable=False),
    Column("index_value", Double, nullable=False),
    Column("doubt", BigInteger, nullable=False),
    Column("generation", BigInteger, nullable=False),  # of what index and doubt were computed from
    Column("decision", SmallInteger, nullable=False),
    Column("retired", Boolean, nullable=False),  # not asked for any more; its index is infinite and its doubt 0
    Column("evidence", BigInteger, nullable=False),  # 0 where workers count alike; see weights.py
    Column("known", SmallInteger),  # the answer where it is known beforehand, 1 or 0
)
# which rows an index holds stands in info: as an option of the two databases it would load the dialects of both
Index("cutline_arms_name", arms.c.name_digest, unique=True)
Index("cutline_arms_doubt", arms.c.campaign_id, arms.c.doubt, arms.c.number, arms.c.decision)
Index("cutline_arms_queue", arms.c.campaign_id, arms.c.index_value, arms.c.position, arms.c.number)
Index(
    "cutline_arms_known",
    *(arms.c.campaign_id, arms.c.pulls, arms.c.position, arms.c.number),
    info={"where": "known IS NOT NULL"},
)

IS_KNOWN = (arms.c.known.is_not(None), arms.c.pulls >= 0)
"""What holds for arms whose answer is known; the second, true of all, has SQLite look for them in their index."""

pulls = Table(
    "cutline_pulls",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("campaign_id", Integer, nullable=False),
    Column("arm", BigInteger, nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("expires", Double),  # null unless LEASED
    Column("reward", BigInteger),  # null unless TOLD or OBSERVED
    Column("worker", Text),
    Column("worker_digest", LargeBinary),
    Column("key", Text),
    Column("key_digest", LargeBinary),
    Column("note", Text),
    Column("time", Double),  # when it was asked for, and later when it was told, observed or abandoned
)
Index("cutline_pulls_arm", pulls.c.arm)
Index("cutline_pulls_expires", pulls.c.campaign_id, pulls.c.expires, info={"where": "expires IS NOT NULL"})
Index("cutline_pulls_worker", pulls.c.worker_digest, pulls.c.arm, info={"where": "worker_digest IS NOT NULL"})
Index("cutline_pulls_key", pulls.c.key_digest, unique=True, info={"where": "key_digest IS NOT NULL"})

corrections = Table(
    "cutline_corrections",  # answers that have been replaced: the nth of a pull, who replaced it and when
    metadata,
    Column("pull", BigInteger, primary_key=True, autoincrement=False),
    Column("nth", Integer, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("worker", Text),
    Column("reward", BigInteger, nullable=False),  # as it was before
    Column("note", Text),  # as it was before
)

requests = Table(
    "cutline_requests",  # what an ask with a request id got: so many pulls, the first of which is ``first``
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("campaign_id", Integer, nullable=False),
    Column("first", BigInteger, nullable=False),
    Column("pulls", BigInteger, nullable=False),
    Column("wanted", BigInteger, nullable=False),
    Column("expires", Double, nullable=False),
    Column("reason", Text),
)
Index("cutline_requests_expires", requests.c.campaign_id, requests.c.expires)

progress = Table(
    "cutline_progress",  # where a campaign stood, at counts of results that lie further and further apart
    metadata,
    Column("campaign_id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("spent", BigInteger, nullable=False),
    Column("observed", BigInteger, nullable=False),
    Column("decided", BigInteger, nullable=False),
    Column("doubt", BigInteger, nullable=False),
)


tokens = Table(
    "cutline_tokens",  # with which a server lets somebody in; only their digests are kept
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, unique=True),  # null for what a token was exchanged for: a login, a link
    Column("role", Text, nullable=False),
    Column("campaign_id", Integer),  # null for all campaigns
    Column("digest", LargeBinary, nullable=False),
    Column("created", Double, nullable=False),
    Column("ends", Double),  # null for never
    Column("parent", Integer),  # the token that a login or a link comes from, and ends with
    Column("once", Boolean, nullable=False),  # whether it is a link, gone once it has been used
    sqlite_autoincrement=True,  # an id that comes back would revive the logins of a token that was revoked
)


def digest(campaign: int, text: str) -> bytes:
    """Return the 16 bytes under which a text is looked up in a campaign."""
    return hashlib.blake2b(text.encode(), digest_size=16, salt=campaign.to_bytes(8, "big")).digest()
