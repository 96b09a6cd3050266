"""Derives checks from the text of a task, without a model.

The public names are listed in ``__init__.pyi``. Each is imported on first use.
"""

import lazy_loader

# The rules compile hundreds of patterns, which takes about half a second.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
