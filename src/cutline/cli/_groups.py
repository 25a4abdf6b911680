"""A command that has commands of its own."""

import importlib
import pkgutil
from typing import Any

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


class Folder(Group):
    """A group whose commands are the modules of a package: found by their file names, loaded when they are called.

    A module ``<name>.py`` holds ``command``, a click command or group; ``import_.py`` is the command import.
    """

    def __init__(self, package: str, **options: Any) -> None:
        """Take the package's name, and the options of click.Group."""
        super().__init__(**options)
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, sorted."""
        return sorted(self._modules())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command of that name; None if there is none."""
        module = self._modules().get(cmd_name)
        if module is None:
            return None
        command = importlib.import_module(f"{self._package}.{module}").command
        assert isinstance(command, click.Command)
        command.name = cmd_name  # click has it from the function, which is called command
        return command

    def _modules(self) -> dict[str, str]:
        names = (module.name for module in pkgutil.iter_modules(importlib.import_module(self._package).__path__))
        return {name.rstrip("_").replace("_", "-"): name for name in names if not name.startswith("_")}
