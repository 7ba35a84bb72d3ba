"""The TCP node: a broker on real sockets, and the driver that plays a workload on an overlay of them.

Reading order: `frames` (bytes, and long messages in several), `codec` (messages), `link` (numbers, acknowledgements,
resending: no sockets yet), `connection`, `peer` and `dialer` (sockets), `node` (a broker among its neighbours and
clients), `process` (a node as an operating system's process), `processes` and `driver` (the other side: all of them,
and what clients do). What goes over the wire and what is promised is in `docs/howto/run-over-tcp.md`.
"""
