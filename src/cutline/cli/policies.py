"""cutline policies: what there is to choose from."""

from dataclasses import fields

import click

from cutline.policies import available


@click.command(name="policies")
def command() -> None:
    """List the policies with their parameters, formula and source.

    \b
    Example:
      cutline policies
    """
    for policy in available():
        parameters = ", ".join(f"{item.name}={item.default:g}" for item in fields(policy))
        mark = "  [yardstick: told the true gaps]" if policy.yardstick else ""
        click.echo(f"{policy.name}({parameters}){mark}" if parameters else f"{policy.name}{mark}")
        click.echo(f"    pulls the arm with the smallest  {policy.formula}")
        click.echo(f"    {policy.source}")
