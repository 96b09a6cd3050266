"""How the agents are called."""

import pytest


@pytest.fixture(params=["", "a"], ids=["blocking", "awaited"])
def call_either(request):
    """Call a method of an agent through either entry; the blocking one is called inside a running loop."""

    async def call(agent, method, *given, **options):
        answer = getattr(agent, request.param + method)(*given, **options)
        return await answer if request.param else answer

    return call
