"""`python -m tests.naive line3/lazy prune3/selective`: searches and prints what `counts.json` records."""

import json
import sys
import time

from tests.naive.instances import load
from tests.naive.search import search
from tests.naive.systems import system

for job in sys.argv[1:]:
    name, policy = job.split("/")
    begin = time.process_time()
    result = search(system(load(name), policy))
    print(json.dumps([job, result.numbers, result.violated, round(time.process_time() - begin, 1)]), flush=True)
