import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.experiment.tables import Average, Cell, Table, average, format_cell, markdown_table


def test_one_seed_has_no_spread() -> None:
    assert average([]) is None
    assert average([2.0]) == Average(2.0, None, 1)
    assert average([1.0, 3.0]) == Average(2.0, 1.4142, 2)


@given(st.lists(st.floats(0, 100), min_size=1))
def test_a_mean_lies_between_its_values(values: list[float]) -> None:
    found = average(values)
    assert found is not None
    assert min(values) - 1e-4 <= found.mean <= max(values) + 1e-4


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        ("x", "x"),
        (12345, "12,345"),
        (1.234, "1.23"),
        ((1.0, 2.5), "1.00 / 2.50"),
        (Average(1.0, None, 1), "1.00"),
        (Average(1.0, 0.126, 3), "1.00 ± 0.13"),
        (Average(100.0, 0.0, 3), "100.00"),
    ],
)
def test_cells_are_formatted(cell: Cell, text: str) -> None:
    assert format_cell(cell) == text


def test_a_repeated_first_cell_is_left_blank() -> None:
    table = Table("", "", ("a", "b"), (("x", 1), ("x", 2), ("y", 2)))
    assert markdown_table(table).splitlines()[2:] == ["| x | 1 |", "|  | 2 |", "| y | 2 |"]
    assert markdown_table(Table("", "", ("a",), ())) == ""
