"""cutline import: results from elsewhere join a campaign."""

from typing import Any

import click

from cutline.cli._campaigns import db_option, done_option, name_option, say_done, settings, settings_options
from cutline.cli._options import label_options, label_reading
from cutline.cli._streams import say
from cutline.cli._tables import counted


@click.command(name="import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@db_option
@name_option
@label_options
@click.option(
    "--source",
    metavar="NAME",
    help="What rows without key and worker are known by; default: the file's name, where it has one.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="The file was corrected: for its tasks, put it in the place of what was imported before.",
)
@click.option("--add-arms", is_flag=True, help="Make tasks that the campaign does not have its arms.")
@settings_options
@done_option
def command(
    files: tuple[str, ...],
    db: str,
    name: str | None,
    source: str | None,
    replace: bool,
    add_arms: bool,
    form: str,
    **options: Any,
) -> None:
    """Record the labels in a file as results of a campaign.

    Each counts once, and none costs budget.

    FILE has the columns task, worker and label, and maybe key and note, or task, yes and n (CSV, TSV, JSON Lines or a
    JSON array, gzipped or not, - for standard input), or is what a tool writes: Label Studio, MTurk, pytest, Inspect
    and others, see docs/formats.md. All of it is imported or nothing, of several files, too. A campaign that is not
    there yet is made, with the tasks as arms, from --threshold and --budget.

    A row that is there already is no news: it is known by its key; else by its task and worker, also if the worker was
    asked and told; else (no worker, or a campaign made with --repeat-workers) by its place among the rows of its task
    in a file of that name. Rows may be added at the end, and totals may grow; anything else needs --replace.

    \b
    Examples:
      cutline import labels.csv --db labels.db --threshold 0.5 --budget 4000
      cutline import more.jsonl.gz --db labels.db --label-col answer --positive yes
      cutline import reports/*.xml --db tests.db --threshold 0.95 --budget 4000
    """
    from cutline.campaign.files.importing import import_file

    reading: Any = {"remark": say, **label_reading(options)}
    how: Any = {"source": source, "replace": replace, "add_arms": add_arms}
    done = import_file(db, name, files, reading=reading, settings=settings(options), **how)
    known = done.rows - done.new
    found = counted(done.new, "new result") if done.new else "nothing new"
    there = "" if known == 0 else f"; {known:,} {'was' if known == 1 else 'were'} there already"
    gone = "" if done.withdrawn == 0 else f"; {counted(done.withdrawn, 'earlier result')} withdrawn"
    made = "" if done.arms is None else f", made with {counted(done.arms, 'arm')}"
    row = {
        "campaign": done.name,
        "created": done.arms is not None,
        "new": done.new,
        "known": known,
        "withdrawn": done.withdrawn,
    }
    say_done(f"campaign {done.name!r}{made}: {found}{there}{gone}", row, form)
