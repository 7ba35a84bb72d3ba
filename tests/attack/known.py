"""Defects that attacks have found and that are not mended yet, with owner and precise patterns. Empty at the end."""

from __future__ import annotations

import re

from attrs import frozen


@frozen
class Known:
    """Complaints of cases of a kind that are known: `about` fits the case, `complaint` what is complained of."""

    owner: str
    kind: str
    about: str
    complaint: str


KNOWN: tuple[Known, ...] = ()


def is_known(kind: str, about: str, complaint: str) -> bool:
    return any(
        known.kind == kind
        and re.search(known.about, about, re.DOTALL)
        and re.search(known.complaint, complaint, re.DOTALL)
        for known in KNOWN
    )
