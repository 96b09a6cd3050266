"""Runs of an agent with tools: of LangChain's with the effects middleware, and of the executor."""

from langchain.agents import create_agent

from agents import EffectsMiddleware, ExecutionAgent, TransportRetry


def run_bare(model, tools):
    agent = create_agent(model, tools, middleware=[EffectsMiddleware()])
    return agent.invoke({"messages": [("user", "s")]})["messages"][-1].text


def run_executor(model, tools):
    return ExecutionAgent(model, tools, transport_retry=TransportRetry(max_attempts=1)).execute_step("s")
