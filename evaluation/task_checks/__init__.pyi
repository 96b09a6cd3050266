from .derivation import DerivedChecks as DerivedChecks
from .derivation import derive_checks as derive_checks

__all__ = ["DerivedChecks", "derive_checks"]
