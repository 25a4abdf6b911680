"""Six tests of a little shop. Two of them are flaky, for reasons that real tests are flaky for: find out which."""

import uuid


class Basket:
    """What somebody wants to buy."""

    def __init__(self) -> None:
        self.items: set[str] = set()

    def add(self, item: str) -> None:
        self.items.add(item)

    def receipt(self) -> str:
        return ", ".join(self.items)


def order_number() -> str:
    return uuid.uuid4().hex[:2]


def test_a_price_has_two_decimals() -> None:
    assert f"{19.9:.2f}" == "19.90"


def test_an_empty_basket_has_an_empty_receipt() -> None:
    assert Basket().receipt() == ""


def test_a_receipt_names_one_item() -> None:
    basket = Basket()
    basket.add("pears")
    assert basket.receipt() == "pears"


def test_a_receipt_names_two_items() -> None:
    basket = Basket()
    basket.add("pears")
    basket.add("plums")
    assert basket.receipt() == "pears, plums"


def test_fifteen_orders_have_fifteen_numbers() -> None:
    assert len({order_number() for _ in range(15)}) == 15


def test_a_discount_never_makes_a_price_negative() -> None:
    assert max(0, 5 - 10) == 0
