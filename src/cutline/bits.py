"""The bits of a float as a whole number, and back. In kernels these two cost nothing (compiled.py)."""

import struct


def bits_of(x: float) -> int:
    """Return the 64 bits of a float as a signed whole number."""
    bits: int = struct.unpack("<q", struct.pack("<d", x))[0]
    return bits


def float_of(bits: int) -> float:
    """Return the float that has these 64 bits."""
    x: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return x
