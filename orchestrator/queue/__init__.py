"""Runs on more than one machine: jobs in PostgreSQL, and workers that execute them.

The public names are listed in ``__init__.pyi``. The queue needs the extra [postgres].
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
