"""An agent of LangChain's with the effects middleware."""

from langchain.agents import create_agent

from agents import EffectsMiddleware


def run_bare(model, tools):
    agent = create_agent(model, tools, middleware=[EffectsMiddleware()])
    return agent.invoke({"messages": [("user", "s")]})["messages"][-1].text
