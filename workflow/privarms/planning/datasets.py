"""The data of a run: real, a stand-in, or missing."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from privarms.data import sources
from privarms.data.remarks import remarks
from privarms.files.whole import sha256
from privarms.planning import paths


class Datasets:
    """The datasets that a run needs: real, a stand-in, or missing.

    of_sources: every dataset that sources.yaml describes
    statuses: dataset -> "real", "stand-in" or "missing", for those that the run needs
    scale: whose stand-ins are used
    """

    def __init__(self, of_sources: Mapping[str, sources.Dataset], statuses: Mapping[str, str], scale: str = "quick"):
        self.sources = of_sources
        self.statuses = statuses
        self.scale = scale

    def is_missing(self, dataset: str) -> bool:
        """Return whether there is neither a raw file nor a stand-in."""
        return self.statuses[dataset] == "missing"

    @property
    def own(self) -> frozenset[str]:
        """Return the datasets that are described by a table of the user's own, without code."""
        return frozenset(d for d in self.statuses if self.sources[d].table is not None)

    def has_auxiliary(self, dataset: str) -> bool:
        """Return whether a dataset has auxiliary sources."""
        table = self.sources[dataset].table
        return table is None or table.source is not None

    def prepared(self, dataset: str, extension: str = "parquet") -> str:
        """Return the path of a prepared dataset, or of the facts about it (json)."""
        return paths.prepared(dataset, extension, self.statuses[dataset] == "stand-in", self.scale)

    def origin(self, datasets: Iterable[str]) -> str:
        """Return the origin of results from these datasets: stand-in, real or simulated."""
        statuses = {self.statuses[d] for d in datasets}
        return "stand-in" if "stand-in" in statuses else "real" if statuses else "simulated"

    def raw_files(self, dataset: str) -> list[str]:
        """Return the paths of a dataset's raw files."""
        return [str(sources.raw_path(self.sources[dataset], file)) for file in self.sources[dataset].files]

    def raw_digests(self, dataset: str) -> list[str | None]:
        """Return the SHA-256 of each raw file, a parameter of its preparation: a replaced file may have an older date.

        A file that is not in place has its known SHA-256, or that of its last preparation. So a deleted raw file
        prepares nothing again, and neither does the run after the one that fetched it. None if both are unknown.
        """
        last = {file: account.get("sha256") for file, account in self._facts(dataset).get("files", {}).items()}
        files = zip(self.sources[dataset].files, self.raw_files(dataset), strict=True)
        return [sha256(path) if Path(path).is_file() else file.sha256 or last.get(file.name) for file, path in files]

    def _facts(self, dataset: str) -> dict:
        """Return the facts about a prepared dataset of real files; none if it is not prepared."""
        file = Path(paths.prepared(dataset, "json"))
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

    def remarks(self, datasets: Iterable[str]) -> list[str]:
        """Return one line per group of datasets with the same remark: rows that were left out, doubtful content."""
        alike: dict[str, list[str]] = {}
        for dataset in datasets:
            # A study does not use the real files if they are gone since their preparation.
            real = self.statuses.get(dataset, "real") == "real"
            if real and (facts := self._facts(dataset)):
                for line in remarks(facts):
                    alike.setdefault(line, []).append(dataset)
        return [f"{', '.join(names)}: {line}" for line, names in alike.items()]

    def absent(self) -> dict[str, tuple[str, str]]:
        """Return folder/file -> (dataset, file) of every raw file to fetch; variants of a dataset share files.

        An existing raw file belongs to the user. It is never the output of a rule, because Snakemake would delete it.
        """
        return {
            f"{self.sources[d].folder}/{file.name}": (d, file.name)
            for d, status in self.statuses.items()
            if status == "real"
            for file in self.sources[d].files
            if not sources.raw_path(self.sources[d], file).exists()
        }

    def missing_message(self, dataset: str) -> str:
        """Return which file of a dataset is missing, where to get it and where to put it, or why it is not used."""
        if self.scale == "tiny" and self.statuses[dataset] == "stand-in":
            return "Scale tiny reads no raw data."
        return sources.missing_message(self.sources[dataset])

    def described(self) -> list[dict]:
        """Return the datasets for the report: real, stand-in or missing, and how to provide the files."""
        return [
            {
                "name": d,
                "title": self.sources[d].title,
                "status": status,
                "message": "" if status == "real" else self.missing_message(d),
            }
            for d, status in self.statuses.items()
        ]
