"""The TCP node: a broker on real sockets, and the driver that plays a workload on an overlay of them.

Reading order: `codec` (messages, and the frames that carry them), `connection` (links with numbers, acknowledgements
and resending; sockets, peers, dialers), `setting` (what a node's process is given before it starts), `node` (a broker
among its neighbours and clients), `processes` (a node as a process of the operating system, and its parent) and
`driver` (the clients). `docs/howto/run-over-tcp.md` has the frames and the guarantees.
"""
