"""The inference tables: each function takes the results and returns a frame."""

from privarms.artifacts.ma2025.privacy import audit
from privarms.artifacts.ma2025.table2 import entries

INFERENCE = {"privacy": audit, "table2": entries}
