"""Check that rows, whether mappings or frames, become one frame."""

import pandas as pd
import pytest

from privarms.inference.rows import as_frame


@pytest.mark.parametrize(
    "rows",
    [
        [{"a": 1}, {"a": 2}, {"a": 3}],
        [pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [3]})],
    ],
)
def test_rows_are_numbered_through(rows):
    made = as_frame(lambda some: iter(some))
    pd.testing.assert_frame_equal(made(rows), pd.DataFrame({"a": [1, 2, 3]}))


def test_no_row_is_an_empty_frame():
    assert as_frame(lambda: iter(()))().empty
