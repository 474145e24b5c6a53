"""The columns of a study's files, and the names that parameters and records can therefore not have.

A study's rows have the columns of the cell, its parameters and the record of the protocol. Its summary has statistics
instead of the measures. Two columns of one name would overwrite each other.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from privarms.errors import PrivarmsError
from privarms.registry.modules import ProtocolModule

QUANTILES = {"p05": 0.05, "p50": 0.50, "p95": 0.95}
STATISTICS = ("mean", "se", *QUANTILES, "missing")
# The share of one replicate in the sum, in the summary of a measure `regret`.
LARGEST_SHARE = "regret_largest_share"
# Of every row: the cell, and what it has next to its parameters.
OF_CELL = ("cell", "policy", "variant", "data", "environment", "horizon", "panels")
# Axes and columns that name sets of cells, and columns that figures and tables of any study use.
RESERVED = ("study", "cells", "panel", "tag", "changed", "curve", "replicate", "replicates", "t", "regret")

# Of the figures and the table that privarms makes of any study (`plots.defaults`).
SHOWN = ("measure", "mean", "se", *QUANTILES, "median", "low", "high", "along", "number", "x")


def taken(protocol: ProtocolModule) -> set[str]:
    """Return the names that no parameter can have in any study of a protocol."""
    # `horizon` and `variant` are parameters with columns of their own.
    return {*OF_CELL, *RESERVED, *protocol.keys} - {"horizon", "variant"}


def refuse_parameters(
    places: Mapping[str, str], protocol: ProtocolModule, record: str | None, written: Iterable[str] | None = None
) -> None:
    """Raise PrivarmsError if a parameter has the name of a column of a record, its summary, or its figures.

    places: the parameters that a study sets, each with its file and key
    written: the columns of the record, by default those that the protocol declares
    """
    written = (protocol.columns_of(record) or ()) if written is None else written
    for name in sorted({*written, *_summarised(protocol, written), *SHOWN} & set(places)):
        raise PrivarmsError(
            f"{places[name]}: the parameter {name!r} has the name of a column of the results "
            f"({_about(protocol, record)}), and one would overwrite the other. Expected another name; rename the "
            "parameter in its module's `configure`, or choose another `record`"
        )


def check_written(cell, rows: Mapping) -> None:
    """Raise PrivarmsError if the columns of a cell's rows are not those declared, or overwrite others.

    cell: a `Cell`; rows: name -> values, as a protocol returns them
    """
    protocol = ProtocolModule(cell.protocol)
    written, promised = [name for name in rows if name != "replicate"], protocol.columns_of(cell.record)
    at, about = f"{cell.paper}/studies.yaml: studies.{cell.study}", _about(protocol, cell.record)
    if promised is not None and set(written) != set(promised):
        raise PrivarmsError(
            f"{at}: {about} writes the columns {', '.join(sorted(written))}. Expected those of its COLUMNS, "
            f"{', '.join(sorted(promised))}; correct COLUMNS"
        )
    refuse_parameters(dict.fromkeys(cell.parameters, at), protocol, cell.record, written)
    names = Counter([*OF_CELL, *written, *_summarised(protocol, written)])
    for name in (name for name, number in names.items() if number > 1):
        raise PrivarmsError(
            f"{at}: {about}: two columns of the study or of its summary have the name {name!r}, and one would "
            "overwrite the other. Expected different names; rename the column of the record"
        )


def _summarised(protocol: ProtocolModule, written: Iterable[str]) -> list[str]:
    """Return the columns of the summary of a record with these columns."""
    measures = [name for name in written if name not in protocol.keys]
    names = [f"{measure}_{statistic}" for measure in measures for statistic in STATISTICS]
    return [*names, *([LARGEST_SHARE] if "regret" in measures else [])]


def _about(protocol: ProtocolModule, record: str | None) -> str:
    record = protocol.record(record)
    return f"protocol {protocol.name}{f', record {record}' if record else ''}"
