"""What proves a backend: a clock to set, the oracle (a plain model of all verbs) and the conformance suite.

Shipped with the package, so that whoever writes a store or a door runs the same tests as we do.
"""

from __future__ import annotations

from strandline.testing.clock import ManualClock
from strandline.testing.oracle import Oracle

__all__ = ["ManualClock", "Oracle"]
