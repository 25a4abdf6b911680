"""What a campaign holds, as rows for files and programs."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from cutline.campaign.campaign import Campaign
from cutline.campaign.decisions import decision_rows
from cutline.campaign.results import ArmHistory, Change, Status, Worker
from cutline.campaign.weighed import Weighed

RESULT_COLUMNS = ("task", "worker", "label", "key", "note")

_RATES = ("right_on_no", "on_no", "right_on_yes", "on_yes")

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that spreadsheets run as a formula."""


def result_rows(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield every result as task, worker, label, key and note, None for none; importing these changes nothing."""
    for item in campaign.results():
        label = int(item.reward) if item.reward in (0.0, 1.0) else item.reward
        yield dict(zip(RESULT_COLUMNS, (item.arm, item.worker, label, item.key, item.note), strict=True))


def history_row(found: ArmHistory) -> dict[str, Any]:
    """Return what is said of an arm, with its pulls as dicts, as one dict."""
    (row,) = decision_rows([found.decision])
    pulls = [
        {
            "key": pull.key,
            "state": str(pull.state),
            "worker": pull.worker,
            "time": pull.time,
            "expires": pull.expires,
            "answers": [answer._asdict() for answer in pull.answers],
        }
        for pull in found.pulls
    ]
    return {**row, "history": pulls}


def status_row(status: Status) -> dict[str, Any]:
    """Return a status with its settings as one dict."""
    return {
        "name": status.name,
        "arms": status.arms,
        "retired": status.retired,
        "known_answers": status.known_answers,
        **status.settings.as_dict(),
        "spent": status.spent,
        "in_flight": status.in_flight,
        "left": status.left,
        "observed": status.observed,
        "expected_errors": status.expected_errors,
        "more_needed": status.more_needed,
        "least_errors": status.least_errors,
        "finished": None if status.finished is None else str(status.finished),
    }


def change_rows(changes: Iterable[Change]) -> Iterator[dict[str, Any]]:
    """Yield changes as dicts: the fields of a Change."""
    for item in changes:
        yield {"time": item.time, "what": item.what, "before": item.before, "after": item.after}


def value_in_words(value: Any) -> str:
    """Return a value of a change for people: - for none, and how many arms with the first ids."""
    if isinstance(value, dict):
        more = ", ..." if value["count"] > len(value["first"]) else ""
        return f"{value['count']:,}: {', '.join(value['first'])}{more}"
    return "-" if value in (None, []) else ",".join(map(str, value)) if isinstance(value, list) else str(value)


def what_in_words(what: str) -> str:
    """Return what was changed for people: the name of a setting with blanks."""
    return what.replace("_", " ")


def change_in_words(row: Mapping[str, Any]) -> str:
    """Return a change for people, such as "budget is 30, was 20" or "arms added, 2: pear, plum"."""
    after = value_in_words(row["after"])
    if isinstance(row["after"], dict):
        return f"{row['what']}, {after}"
    return f"{what_in_words(row['what'])} is {after}, was {value_in_words(row['before'])}"


def worker_row(worker: Worker) -> dict[str, Any]:
    """Return a worker as one dict."""
    return {
        "worker": worker.name,
        "answers": worker.answers,
        "agreeing": worker.agreeing,
        "agreement": worker.agreement,
        "in_flight": worker.in_flight,
        "last_seen": worker.last_seen,
    }


def rated_rows(workers: Iterable[Worker], weighed: Weighed) -> list[dict[str, Any]]:
    """Return workers as dicts, with how often each is right; None for one who has no answer that counts."""
    rates = {item.name: item for item in weighed.workers}
    return [
        {**worker_row(worker), **{name: getattr(rates.get(worker.name), name, None) for name in _RATES}}
        for worker in workers
    ]


def rate_in_words(row: Mapping[str, Any], side: str) -> str:
    """Return how often a worker of ``rated_rows`` is right on a side, with the interval; - where that is not known."""
    rate = row[f"right_on_{side}"]
    if rate is None:
        return "-"
    low, high = row[f"on_{side}"]
    return f"{rate:.3f} [{low:.3f}, {high:.3f}]"


def write_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], file: IO[str], safe: bool = False) -> None:
    """Write rows as CSV with a header; None is an empty field, a list or an object is JSON.

    ``safe``: a text that a spreadsheet would take for a formula has an apostrophe before it, and is another text then.
    """
    plain = csv.writer(file, lineterminator="\n")
    quoted = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    plain.writerow(columns)
    for row in rows:
        values = [_field(row[name]) for name in columns]
        if safe:
            values = [
                f"'{value}" if isinstance(row[name], str) and value.startswith(_FORMULA) else value
                for name, value in zip(columns, values, strict=True)
            ]
        # csv leaves a lone carriage return bare, and no reader would put it together again
        writer = quoted if any("\r" in value for value in values) else plain
        writer.writerow(values)


def write_jsonl(rows: Iterable[Mapping[str, Any]], file: IO[str]) -> None:
    """Write rows as JSON Lines."""
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def _field(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict, bool)) else str(value)
