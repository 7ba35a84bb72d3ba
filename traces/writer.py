"""Writing traces: `header_row` and `event_row` make a line's object, `save` puts a whole trace in place at once."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from routeproof.traces.format import VERSION, broker_name

Row = Mapping[str, object]


def header_row(
    run: str,
    protocol: str,
    policy: str,
    overlay: Iterable[tuple[int, int]],
    dialect: str,
    observes: Iterable[str],
    **more: object,
) -> dict[str, object]:
    """Line 1; `more` is written after what every trace has."""
    return {
        "routeproof": VERSION,
        "run": run,
        "protocol": protocol,
        "policy": policy,
        "overlay": [[broker_name(u), broker_name(v)] for u, v in overlay],
        "dialect": dialect,
        "observes": list(observes),
        **more,
    }


def event_row(broker: str, seq: int, event: str, peer: str = "", **more: object) -> dict[str, object]:
    """Any other line; `more` is its `message`, `text`, `tables` or `time`."""
    return {"broker": broker, "seq": seq, "event": event, **({"peer": peer} if peer else {}), **more}


def to_text(rows: Iterable[Row]) -> str:
    """One object a line. In ASCII: an id with half a character in it still makes a file of valid UTF-8."""
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def save(path: Path, text: str, *, replace: bool) -> bool:
    """Write a file so that nobody ever sees half of it; `False` where there is one already that may not be replaced."""
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    temporary.write_text(text, encoding="utf-8")
    try:
        return _put(temporary, path, replace)
    finally:
        temporary.unlink(missing_ok=True)


def _put(temporary: Path, path: Path, replace: bool) -> bool:
    if not replace:
        try:
            path.hardlink_to(temporary)  # unlike a rename, this fails where the name is taken
            return True
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            if path.exists():
                return False
    temporary.replace(path)
    return True
