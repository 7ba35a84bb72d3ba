"""Malformed instances: what is wrong with each, as TOML, and what the message must say. For the parser and the CLI."""

GOOD = """\
name = "good"
protocol = "routing"
policy = "active"
overlay = [[1, 2], [2, 3]]

[[advertisement]]
id = "a"
at = 3
events = [0, 1]

[[subscription]]
id = "S"
at = 1
events = [0, 1]
unsubscribes = true

[[subscription]]
id = "s"
at = 2
events = [0]

[[publication]]
id = "p"
of = "a"
event = 0
"""

HEAD = GOOD[: GOOD.index("[[advertisement]]")]

PREDICATES = """\
name = "predicates"
protocol = "routing"
policy = "active"
overlay = [[1, 2]]

[[advertisement]]
id = "a"
at = 2
filter = [["class", "=", "STOCK"], ["volume", ">", 0]]

[[subscription]]
id = "S"
at = 1
filter = [["volume", ">", 1000]]

[[publication]]
id = "p"
of = "a"
attributes = { class = "STOCK", volume = 2000 }
"""


PRUNED = """\
name = "pruned"
protocol = "pruning"
policy = "incremental"
overlay = [[1, 2]]

[pruning]
thresholds = [60, 90]
cuts = [1, 2]

[[advertisement]]
id = "a"
at = 2
events = [0]

[[subscription]]
id = "S"
at = 1
events = [0]
unsubscribes = true
again = 2

[[congestion]]
at = 1
"""


def _prune(old: str, new: str, last: bool = False) -> str:
    at = PRUNED.rindex(old) if last else PRUNED.index(old)
    return PRUNED[:at] + new + PRUNED[at + len(old) :]


def _swap(old: str, new: str, text: str = GOOD) -> str:
    assert old in text, old
    return text.replace(old, new, 1)


def _but(old: str, new: str) -> str:
    return _swap(old, new, PREDICATES)


OVERLAY = "overlay = [[1, 2], [2, 3]]"

MALFORMED: dict[str, tuple[str, str]] = {
    # the overlay
    "cycle": (_swap(OVERLAY, "overlay = [[1, 2], [2, 3], [3, 1]]"), "overlay: the overlay has a cycle"),
    "not connected": (_swap(OVERLAY, "overlay = [[1, 2], [3, 4]]"), "overlay: the overlay is not connected"),
    "gap": (_swap(OVERLAY, "overlay = [[1, 2], [2, 4]]"), "numbered 1..n without gaps; 3 is missing"),
    "loop": (_swap(OVERLAY, "overlay = [[1, 2], [2, 2]]"), "b2 is linked to itself"),
    "link twice": (_swap(OVERLAY, "overlay = [[1, 2], [2, 1]]"), "link [1, 2] is listed twice"),
    "broker 0": (
        _swap(OVERLAY, "overlay = [[0, 1], [1, 2]]"),
        "overlay[1][1]: found 0; expected a whole number from 1",
    ),
    "negative broker": (_swap(OVERLAY, "overlay = [[1, -2]]"), "overlay[1][2]: found -2"),
    "absurd broker": (_swap(OVERLAY, f"overlay = [[1, {10**30}]]"), f"overlay[1][2]: found {10**30}"),
    "endless broker": (_swap(OVERLAY, f"overlay = [[1, 0x{'f' * 9999}]]"), "found an integer of 39996 bits"),
    "broker a string": (_swap(OVERLAY, 'overlay = [[1, "2"]]'), 'overlay[1][2]: found "2"'),
    "broker a truth": (_swap(OVERLAY, "overlay = [[1, true]]"), "overlay[1][2]: found true"),
    "broker a real": (_swap(OVERLAY, "overlay = [[1, 2.0]]"), "overlay[1][2]: found 2.0"),
    "broker nan": (_swap(OVERLAY, "overlay = [[1, nan]]"), "overlay[1][2]: found nan"),
    "link of three": (_swap(OVERLAY, "overlay = [[1, 2, 3]]"), "overlay[1]: found a list; expected a link"),
    "overlay flat": (_swap(OVERLAY, "overlay = [1, 2]"), "overlay[1]: found 1; expected a link"),
    "overlay a string": (_swap(OVERLAY, 'overlay = "1-2-3"'), 'overlay: found "1-2-3"; expected a list of links'),
    "overlay huge": (_swap(OVERLAY, f"overlay = {[[i, i + 1] for i in range(1, 99)]}"), "overlay: found 98 entries"),
    # the head
    "no name": (_swap('name = "good"\n', ""), "found no key name; expected the keys"),
    "no overlay": (_swap(OVERLAY + "\n", ""), "found no key overlay; expected the keys"),
    "no policy": (_swap('policy = "active"\n', ""), "found no key policy; expected the keys"),
    "no protocol": (_swap('protocol = "routing"\n', ""), "found no key protocol; expected the keys"),
    "name with a slash": (_swap('"good"', '"../good"'), 'name: found "../good"; expected 1 to 64 letters'),
    "name too long": (_swap('"good"', f'"{"x" * 65}"'), "name: found"),
    "name empty": (_swap('"good"', '""'), 'name: found ""'),
    "name a number": (_swap('"good"', "7"), "name: found 7; expected 1 to 64 letters"),
    "another protocol": (_swap('"routing"', '"pruned"'), 'protocol: found "pruned"; expected one of routing, pruning'),
    "another protocol's table": (GOOD + "[mesh]\nradius = 2\n", 'found the unknown key "mesh"'),
    "a table without a protocol": (GOOD + "[interest]\nk = 2\n", 'found the unknown key "interest"'),
    "policy mistyped": (
        _swap('"active"', '"activ"'),
        "expected one of none, active, lazy, packing (did you mean active?)",
    ),
    "policy a number": (_swap('"active"', "3"), "policy: found 3; expected one of none"),
    "no policies": (_swap('"active"', "[]"), "policy: found an empty list; expected a list of policies"),
    "policy twice": (
        _swap('"active"', '["lazy", "lazy"]'),
        'policy[2]: found "lazy" a second time; expected each once',
    ),
    "unknown key": (_swap("overlay", "overlap = 1\noverlay"), '"overlap"; expected the keys name, protocol'),
    "unknown key, meant": (_swap("overlay", "overlai = 1\noverlay"), "(did you mean overlay?)"),
    "about of two lines": (_swap("overlay", 'about = "a\\nb"\noverlay'), 'about: found "a\\nb"; expected one line'),
    "about too long": (_swap("overlay", f'about = "{"x" * 201}"\noverlay'), "about: found 201 characters"),
    "dialect unknown": (_swap("overlay", 'dialect = "stricd"\noverlay'), "dialect: found"),
    # clients
    "at unknown": (
        _swap("at = 3", "at = 4"),
        "advertisement[1].at: found broker 4; expected a broker of the overlay, 1 to 3",
    ),
    "at missing": (_swap("at = 3\n", ""), "advertisement[1]: found no key at; expected the keys"),
    "at a string": (_swap("at = 3", 'at = "3"'), 'advertisement[1].at: found "3"'),
    "at a date": (_swap("at = 3", "at = 1979-05-27"), "advertisement[1].at: found a value of type date"),
    "id twice": (_swap('id = "s"', 'id = "S"'), 'subscription[2].id: found "S", which subscription[1] has already'),
    "id over kinds": (
        _swap('id = "p"', 'id = "a"'),
        'publication[1].id: found "a", which advertisement[1] has already',
    ),
    "id with a blank": (_swap('id = "s"', 'id = "s 1"'), 'subscription[2].id: found "s 1"'),
    "id with a line break": (_swap('id = "s"', 'id = "s\\n"'), 'subscription[2].id: found "s\\n"'),
    "id a number": (_swap('id = "s"', "id = 1"), "subscription[2].id: found 1"),
    "id missing": (_swap('id = "s"\n', ""), "subscription[2]: found no key id; expected the keys"),
    "unknown key of a client": (_swap("unsubscribes", "unsubscribe"), "(did you mean unsubscribes?)"),
    "withdrawal of the wrong kind": (_swap("unsubscribes", "unadvertises"), 'unknown key "unadvertises"'),
    "flag a string": (_swap("unsubscribes = true", 'unsubscribes = "yes"'), "expected true or false"),
    "flag a number": (_swap("unsubscribes = true", "unsubscribes = 1"), "subscription[1].unsubscribes: found 1"),
    "one table for many": (_swap("[[publication]]", "[publication]"), "publication: found a table; expected a list"),
    "clients a string": ('advertisement = "a"\n' + HEAD, 'advertisement: found "a"'),
    "client a number": ("subscription = [1]\n" + HEAD, "subscription[1]: found 1; expected a table"),
    "too many ids": (
        GOOD + "".join(f'[[publication]]\nid = "p{i}"\nof = "a"\nevent = 0\n' for i in range(253)),
        "publication[254].id: found one more than 256",
    ),
    # event sets
    "events empty": (_swap("events = [0]", "events = []"), "subscription[2].events: found an empty list"),
    "events a number": (_swap("events = [0]", "events = 0"), "subscription[2].events: found 0; expected a list"),
    "event 63": (
        _swap("events = [0]", "events = [63]"),
        "subscription[2].events[1]: found 63; expected a whole number",
    ),
    "event negative": (_swap("events = [0]", "events = [-1]"), "subscription[2].events[1]: found -1"),
    "event a truth": (_swap("events = [0]", "events = [true]"), "subscription[2].events[1]: found true"),
    "event twice": (_swap("events = [0]", "events = [0, 0]"), "subscription[2].events[2]: found 0 a second time"),
    "no filter": (
        _swap("events = [0]\n", ""),
        "subscription[2]: found neither; expected exactly one of events and filter",
    ),
    "both filters": (_swap("events = [0]", 'events = [0]\nfilter = [["x", "present"]]'), "subscription[2]: found both"),
    "two algebras": (
        _swap("events = [0]", 'filter = [["x", "present"]]'),
        "subscription[2].filter: found `filter`; expected `events`, as in advertisement[1].events",
    ),
    # publications
    "of unknown": (_swap('of = "a"', 'of = "b"'), 'publication[1].of: found "b"; expected an advertisement: a'),
    "of a subscription": (_swap('of = "a"', 'of = "S"'), 'publication[1].of: found "S"; expected an advertisement: a'),
    "of nothing": (HEAD + '[[publication]]\nid = "p"\nof = "a"\nevent = 0\n', "of which there is none"),
    "event not promised": (_swap("event = 0", "event = 2"), "publication[1].event: found event 2; expected one that"),
    "event a list": (_swap("event = 0", "event = [0]"), "publication[1].event: found a list"),
    "event missing": (
        _swap("event = 0", ""),
        "publication[1]: found neither; expected exactly one of event and attributes",
    ),
    "event of the other algebra": (
        _swap("event = 0", "attributes = { x = 1 }"),
        "publication[1].attributes: found `attributes`; expected `event`, as advertisement a has it",
    ),
    # predicates
    "filter unsatisfiable": (_but('["volume", ">", 0]', '["volume", ">", 1], ["volume", "<", 1]'), "matches nothing"),
    "operator unknown": (
        _but('">", 1000', '"~", 1000'),
        "subscription[1].filter: predicate 1: operator '~' is unknown",
    ),
    "constant a list": (_but('">", 1000', '">", [1000]'), "subscription[1].filter: predicate 1"),
    "constant nan": (_but('">", 1000', '">", nan'), "subscription[1].filter: predicate 1: constant: found nan"),
    "constant a date": (_but('">", 1000', '">", 1979-05-27'), "subscription[1].filter: predicate 1"),
    "predicate of one": (_but('["volume", ">", 1000]', '["volume"]'), "predicate 1: found a list of length 1"),
    "filter a string": (_but('[["volume", ">", 1000]]', '"volume > 1000"'), "subscription[1].filter"),
    "attributes not promised": (
        _but("volume = 2000", "volume = 0"),
        "found an event that does not match; expected one",
    ),
    "attribute a list": (
        _but("volume = 2000", "volume = [1]"),
        "attributes: an event: attribute 'volume': found a list",
    ),
    "attributes a list": (_but('{ class = "STOCK", volume = 2000 }', "[1]"), "publication[1].attributes"),
    "predicates under a dialect of events": (_but("overlay", 'dialect = "events"\noverlay'), 'under dialect "events"'),
    # faults and declarations
    "fault unknown": (GOOD + "[faults]\nlost = 1\n", 'faults: found the unknown key "lost"'),
    "fault negative": (GOOD + "[faults]\nloss = -1\n", "faults.loss: found -1; expected a whole number from 0 to 8"),
    "fault too often": (GOOD + "[faults]\ncrash = 9\n", "faults.crash: found 9"),
    "fault a truth": (GOOD + "[faults]\ncrash = true\n", "faults.crash: found true"),
    "faults a list": (_swap("overlay", "faults = [1]\noverlay"), "faults: found a list; expected a table"),
    "declared a string": (_swap("overlay", 'must_reach = "SomeDelivery"\noverlay'), "must_reach: found"),
    "declared twice": (_swap("overlay", 'must_fail = ["Precise", "Precise"]\noverlay'), "must_fail[2]: found"),
    "declared a number": (_swap("overlay", "must_fail = [1]\noverlay"), "must_fail[1]: found 1"),
    # pruning
    "pruning under routing": (GOOD + "[pruning]\ncuts = [1, 2]\n", 'found the unknown key "pruning"'),
    "congestion under routing": (GOOD + "[[congestion]]\nat = 1\n", 'found the unknown key "congestion"'),
    "again under routing": (_swap("unsubscribes = true", "again = 1"), 'found the unknown key "again"'),
    "a policy of routing": (_prune('"incremental"', '"active"'), 'policy: found "active"; expected one of incremental'),
    "reading unknown": (_prune("cuts =", "cut ="), 'pruning: found the unknown key "cut"; expected the keys'),
    "reading of a list unknown": (_prune("cuts = [1, 2]", 'counts = "here"'), 'pruning.counts: found "here"; expected'),
    "reading no truth": (_prune("cuts = [1, 2]", "collects = 1"), "pruning.collects: found 1; expected true or false"),
    "window of nothing": (_prune("cuts = [1, 2]", "window = 0"), "pruning.window: found 0; expected a whole number"),
    "thresholds too few": (
        _prune("[60, 90]", "[90]"),
        "pruning.thresholds: found [90]; expected 2 of them under increm",
    ),
    "thresholds descend": (_prune("[60, 90]", "[90, 60]"), "pruning.thresholds: found [90, 60]; expected percentages"),
    "threshold above all": (_prune("[60, 90]", "[60, 101]"), "pruning.thresholds[2]: found 101; expected a whole"),
    "cuts one": (_prune("cuts = [1, 2]", "cuts = [1]"), "pruning.cuts: found [1]; expected 2 of them"),
    "cuts descend": (
        _prune("cuts = [1, 2]", "cuts = [2, 1]"),
        "pruning.cuts: found [2, 1]; expected numbers of subscriptions",
    ),
    "cuts a number": (_prune("cuts = [1, 2]", "cuts = 3"), "pruning.cuts: found 3; expected a list of numbers"),
    "comes back without leaving": (_prune("unsubscribes = true\n", ""), "again: found 2; expected unsubscribes = true"),
    "comes back nowhere": (
        _prune("again = 2", "again = 3"),
        "subscription[1].again: found broker 3; expected a broker",
    ),
    "congested nowhere": (_prune("at = 1\n", "at = 7\n", last=True), "congestion[1].at: found broker 7"),
    "congested twice": (PRUNED + "[[congestion]]\nat = 1\n", "congestion"),
    "congestion without a broker": (PRUNED + "[[congestion]]\n", "congestion[2]: found no key at"),
}
