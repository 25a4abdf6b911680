"""cutline policies: what there is to choose from."""

from dataclasses import fields

import click

from cutline.cli._streams import say


@click.command(name="policies")
def command() -> int:
    """List the policies with their parameters, formula and source.

    Those of installed packages are among them; one that cannot be used is named on standard error, with exit status 1.

    \b
    Example:
      cutline policies
    """
    from cutline.policies import available, unusable

    for policy in available():
        parameters = ", ".join(f"{item.name}={item.default:g}" for item in fields(policy))
        mark = "  [yardstick: told the true gaps]" if policy.yardstick else ""
        click.echo(f"{policy.name}({parameters}){mark}" if parameters else f"{policy.name}{mark}")
        click.echo(f"    pulls the arm with the smallest  {policy.formula}")
        click.echo(f"    {policy.source}")
    for line in unusable():
        say(f"cutline: {line}")
    return 1 if unusable() else 0
