"""One broker of `routeproof run --tcp`: the TCP node as a process, and the trace that it writes to.

It is no command. `run_tcp` starts it and talks to it over its standard input (`impl/tcp/processes.py`).
"""

from __future__ import annotations

import sys

from routeproof.impl.tcp.processes import serve
from routeproof.impl.tcp.setting import NodeSetting
from routeproof.traces import TraceWriter


def _trace(setting: NodeSetting) -> TraceWriter:
    """The header is only there because every trace has one: `run_tcp` puts its own before the events of all."""
    return TraceWriter(setting.trace, "part", policy=setting.policy, naming=setting.name)


if __name__ == "__main__":
    sys.exit(serve(_trace))
