"""The TCP node: a broker on real sockets, and the driver that plays a workload on an overlay of them.

Reading order: `codec` (messages, and the frames that carry them), `connection` (links with numbers, acknowledgements
and resending; sockets, peers, dialers), `node` (a broker among its neighbours and clients), `setting` and `processes`
(a node as an operating system's process, and the other side: all of them) and `driver` (what clients do).
What goes over the wire and what is promised is in `docs/howto/run-over-tcp.md`.
"""
