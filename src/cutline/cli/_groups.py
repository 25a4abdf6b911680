"""A command that has commands of its own."""

import click


class Group(click.Group):
    """A click group that says which commands there are when it is asked for one that there is not."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name, the command and its arguments; raise UsageError that names the commands there are."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            there_are = ", ".join(self.list_commands(ctx))
            raise click.UsageError(f"{error.message.rstrip('.')}; there are {there_are}", ctx) from None
