"""Refuse work that cannot fit into memory before it starts, instead of being killed in the middle of it."""

from pathlib import Path

from cutline.errors import OutOfMemoryError

_CGROUP = Path("/sys/fs/cgroup")
"""Where Linux tells the processes of a container what they may use (control groups, version 2)."""

_LITTLE = 2**20
"""So few bytes there always are; to find out takes longer than most of what needs no more."""


def available_memory() -> float:
    """Return the bytes that this process can still get: of the machine, or of its container if that has less left."""
    import psutil  # only where it counts

    free = float(psutil.virtual_memory().available)
    most, used = _CGROUP / "memory.max", _CGROUP / "memory.current"
    if most.exists() and most.read_text().strip().isdigit():  # else there is no limit, and the file says max
        free = min(free, float(most.read_text()) - (float(used.read_text()) if used.exists() else 0.0))
    return max(free, 0.0)


def require_memory(needed: float, what: str) -> None:
    """Raise OutOfMemoryError if ``needed`` bytes, beyond a few, are more than there are; ``what`` needs them."""
    if needed <= _LITTLE:
        return
    available = available_memory()
    if needed > available:
        raise OutOfMemoryError(
            f"{what} need about {needed / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB are free; "
            "use fewer arms, runs, budgets or threads"
        )
