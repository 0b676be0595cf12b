"""The keys of finished tasks in sixteen bytes each: ten million of them are 160 MB, not 1.5 GB."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

#: Bytes of a digest. Two of 10⁷ keys share one with a probability below 10⁻²¹.
DIGEST = 16


class Keys:
    """A set of strings that knows its members by their digests.

    Parameters
    ----------
    keys : iterable of str
        Read once.

    Attributes
    ----------
    repeated : set of bytes
        Digests of those that came more than once.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        digests = bytearray()
        for key in keys:
            digests += digest(key)
        self._sorted = np.frombuffer(digests, dtype=f"S{DIGEST}")
        self._sorted.sort()
        twice = self._sorted[1:][self._sorted[1:] == self._sorted[:-1]]
        self.repeated = {bytes(found) for found in twice}

    def __contains__(self, key: str) -> bool:
        wanted = np.bytes_(digest(key))
        place = int(np.searchsorted(self._sorted, wanted))
        return place < len(self._sorted) and bool(self._sorted[place] == wanted)

    def __len__(self) -> int:
        return len(self._sorted)


def digest(key: str) -> bytes:
    """Return a key's sixteen bytes; the last is not zero, for numpy would cut it off."""
    return blake2b(key.encode(), digest_size=DIGEST - 1).digest() + b"\1"
