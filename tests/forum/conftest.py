"""Fixtures for tests of the forum."""

import pytest

from tests.forum.posts import write_thread


@pytest.fixture(params=["threads", "replies"])
def noun(request):
    return request.param


@pytest.fixture
def thread_id(siti):
    return int(write_thread(siti)["id"])
