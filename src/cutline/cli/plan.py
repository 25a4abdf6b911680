"""cutline plan: how many pulls will it take?"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cutline.cli._options import (
    jobs_option,
    label_options,
    label_reading,
    means_column_option,
    means_file_option,
    means_option,
    numbers,
    plot_option,
    seed_option,
    threshold_option,
)
from cutline.cli._streams import require_output, say
from cutline.cli._tables import as_json, format_option
from cutline.defaults import POLICY
from cutline.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cutline.planning import Beliefs


@click.command(name="plan")
@means_option("Guessed mean rewards, taken as true.")
@means_file_option
@means_column_option
@click.option(
    "--pilot",
    metavar="FILE",
    help="Results of a first round: columns pulls and total, a line an arm; or labels, as replay takes them.",
)
@label_options
@click.option(
    "--prior",
    callback=numbers(float, "a number", "2,2"),
    metavar="A,B",
    help="Means are drawn from Beta(A, B); goes with --arms.",
)
@click.option("--arms", type=int, metavar="K", help="The number of arms; goes with --prior.")
@click.option("--db", metavar="URL", help="The database of a campaign: says how many more pulls that one needs.")
@click.option("--campaign", metavar="NAME", help="The campaign; may be left out where there is only one.")
@threshold_option
@click.option(
    "--errors", type=float, metavar="E", help="The target: how many wrong decisions are to be expected at most."
)
@click.option("--accuracy", type=float, metavar="Q", help="The target as the share of right decisions, such as 0.95.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    default=[POLICY],
    show_default=POLICY,
    metavar="NAME",
    help="The policy, see cutline policies; repeat it to set others beside the first, oracles among them.",
)
@seed_option
@jobs_option
@format_option
@plot_option
def command(
    threshold: float,
    errors: float | None,
    accuracy: float | None,
    policies: tuple[str, ...],
    seed: int,
    jobs: int | None,
    form: str,
    plot: Path | None,
    **guess: Any,
) -> None:
    """Find the smallest budget with few enough wrong decisions.

    Next to it stands what pulling every arm equally often (Uniform) needs, and what theory says. With --db: how many
    more pulls a campaign needs, from what it knows now, until 50, 20 and 10 errors are expected, or --errors.

    \b
    Examples:
      cutline plan --prior 2,2 --arms 1000 --errors 50 --policy LSA --policy Lai
      cutline plan --means 0.2,0.4,0.45,0.55,0.7 --accuracy 0.95
      cutline plan --pilot pilot.csv --threshold 0.8 --errors 3 --plot plan.svg
      cutline plan --db labels.db
    """
    db, campaign = guess.pop("db"), guess.pop("campaign")
    if db is not None:
        _of_campaign(db, campaign, errors, form)
        return
    if campaign is not None:
        raise InvalidInputError("--campaign goes with --db")
    from cutline.planning import plan
    from cutline.threshold import check_threshold

    require_output()
    check_threshold(threshold)  # before a long file is read
    known = _guess(**guess)
    if plot:
        from cutline.plotting import require_drawable

        require_drawable(plot)
    found = plan(known, threshold, errors=errors, accuracy=accuracy, policy=policies, seed=seed, executor=jobs)
    click.echo(as_json(asdict(found)) if form == "json" else f"{found}\n", nl=False)
    if plot and not found.curve:
        say("no figure: nothing was simulated")
    elif plot:
        found.plot(plot)


@click.pass_context
def _of_campaign(ctx: click.Context, db: str, name: str | None, errors: float | None, form: str) -> None:
    """Print how many more pulls a campaign needs; refuse options that go with a guess."""
    for key in ctx.params.keys() - {"db", "campaign", "errors", "form"}:
        if ctx.get_parameter_source(key) is not ParameterSource.DEFAULT:
            option = {"policies": "policy"}.get(key, key.replace("_", "-"))
            raise InvalidInputError(f"--{option} does not go with --db")
    from cutline.campaign.resume import open_one
    from cutline.checks import check_positive
    from cutline.planning.remaining import TARGETS, remaining

    targets = TARGETS if errors is None else (check_positive("errors", errors),)
    with open_one(db, name) as campaign:
        settings, records = campaign.settings, campaign.records()
        called = campaign.name
    if settings.weighed:
        raise InvalidInputError(
            f"campaign {called!r} weighs its workers, so how many more pulls it needs depends on who answers; "
            "it is not computed"
        )
    if settings.max_pulls_per_arm is not None:
        most = f"{settings.max_pulls_per_arm:,} results"
        say(f"an arm of campaign {called!r} may have {most}; that is not looked at here")
    if any(squares != total for _, total, squares, *_ in records):
        say("rewards between 0 and 1 count as the coins that say as much of a mean")
    found = remaining(records, settings.threshold, settings.policy, targets, settings.prior, settings.decide)
    click.echo(as_json(asdict(found)) if form == "json" else f"{found}\n", nl=False)


def _guess(
    means: list[float] | None,
    means_file: str | None,
    means_column: str | None,
    pilot: str | None,
    prior: list[float] | None,
    arms: int | None,
    **options: Any,
) -> "Beliefs | Sequence[float]":
    from cutline.planning import Beliefs

    if sum(source is not None for source in (means, means_file, pilot, prior)) != 1:
        raise InvalidInputError("give the guess once: --means 0.2,0.4, --means-file FILE, --pilot FILE or --prior A,B")
    if means_column is not None and means_file is None:
        raise InvalidInputError("--means-column goes with --means-file")
    reading: Any = label_reading(options)
    if pilot is None and any(reading.values()):
        raise InvalidInputError("--from, --where and what says how labels are written go with --pilot")
    if (prior is None) != (arms is None):
        raise InvalidInputError("--prior and --arms go together, as in --prior 2,2 --arms 1000")
    if means_file is not None:
        from cutline.recorded.readers import read_means

        return list(read_means(means_file, column=means_column))
    if pilot is not None:
        from cutline.recorded.readers import read_pilot

        results = read_pilot(pilot, remark=say, **reading)
        return Beliefs.after(results.pulls, results.totals, results.places)
    if prior is not None and arms is not None:
        if len(prior) != 2:
            raise InvalidInputError(f"--prior has {len(prior)} numbers; it must have two, as in --prior 2,2")
        return Beliefs.prior(prior[0], prior[1], arms)
    return means or []
