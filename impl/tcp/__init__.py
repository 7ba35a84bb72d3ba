"""The TCP node: a broker on real sockets, and the driver that plays a workload on an overlay of them.

Reading order: `frames` (bytes, and long messages in several), `codec` (messages), `link` (numbers, acknowledgements,
resending: no sockets yet), `connection` (sockets, peers, dialers), `node` (a broker among its neighbours and clients),
`processes` (a node as an operating system's process, and the other side: all of them) and `driver` (what clients do).
What goes over the wire and what is promised is in `docs/howto/run-over-tcp.md`.
"""
