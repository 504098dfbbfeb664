"""What every test shares: hypothesis draws the same cases on every machine."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("support")  # so that an assertion there shows its values as one in a test does

# `HYPOTHESIS_PROFILE=explore make test` searches on, with new cases every time
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, database=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
