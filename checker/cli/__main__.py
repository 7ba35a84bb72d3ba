"""`python -m routeproof.checker.cli`."""

import sys

from routeproof.checker.cli import main

sys.exit(main())
