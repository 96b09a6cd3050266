"""Agents that plan, execute and judge with any LangChain chat model.

The public names are listed in ``__init__.pyi``. Each is imported on first use.
"""

import logging

import lazy_loader

# LangChain takes about a second to import, and a program may need only one agent or one error class.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
logging.getLogger(__name__).addHandler(logging.NullHandler())
