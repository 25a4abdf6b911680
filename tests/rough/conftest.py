"""What the rough tests share: the folder that a call finds. All of them take long, so they wait for -m rough."""

import pytest

from rough.calls import Template


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has the mark rough, unless it is asked for."""
    if "rough" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("rough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The folder of which every call finds a copy."""
    return Template.made(tmp_path_factory.mktemp("rough") / "template")
