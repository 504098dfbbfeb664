"""What every test shares: hypothesis draws the same cases on every machine."""

from __future__ import annotations

import os

from hypothesis import settings

# `HYPOTHESIS_PROFILE=explore make test` searches on, with new cases every time
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, database=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
