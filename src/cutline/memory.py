"""Refuse work that cannot fit into memory before it starts, instead of being killed in the middle of it."""

import os
from pathlib import Path

from cutline.errors import OutOfMemoryError


def available_memory() -> float:
    """Return the bytes that this process can still get, as far as the system tells; else infinity."""
    limits = [float("inf")]
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(1024.0 * int(line.split()[1]))
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    group = Path("/sys/fs/cgroup/memory.max")
    if group.exists() and group.read_text().strip().isdigit():
        used = Path("/sys/fs/cgroup/memory.current")
        limits.append(float(group.read_text()) - (float(used.read_text()) if used.exists() else 0.0))
    return min(limits)


def require_memory(needed: float, what: str) -> None:
    """Raise OutOfMemoryError if ``needed`` bytes are more than there are; ``what`` says what needs them."""
    available = available_memory()
    if needed > available:
        raise OutOfMemoryError(
            f"{what} need about {needed / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB are free; "
            "use fewer arms, budgets or threads"
        )
