"""The check that counts items: questions, reasons, names, in any layout."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from evaluation.checks.base import CheckKind
from evaluation.checks.context import CheckContext
from evaluation.checks.kinds.counts import CountCheck
from evaluation.checks.layouts.item_layouts import count_items
from evaluation.checks.segmentation import Amount


class ItemCount(CountCheck):
    """The number of items, such as questions, reasons or names: list items, headings, table rows or lines."""

    check: Literal["item_count"] = "item_count"
    kind: ClassVar[CheckKind] = "content"
    things: ClassVar[tuple[str, str]] = ("item", "items")

    @model_validator(mode="after")
    def _refuse_scope(self) -> Self:
        if self.each is not None:
            raise ValueError("items are counted in the whole text; leave out 'each'")
        return self

    def _count(self, context: CheckContext) -> Amount:
        return count_items(context.text)

    def _fits(self, amount: Amount | None) -> bool:
        """Check whether all numbers fit that the layout leaves open; items that are not seen are no few."""
        if amount is None or not amount.most:
            return amount is not None and 0 in {self.max, self.exactly}
        return self._includes(amount.least) and self._includes(amount.most)

    def _show(self, amount: Amount | None) -> str:
        if amount is not None and amount.most == 0:
            return "no items that stand in lines of their own"
        return super()._show(amount)

    def _describe(self) -> str:
        return f"give {self._describe_bounds()}, each in a line of its own"
