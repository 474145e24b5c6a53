"""The data of a run: real, a stand-in, or missing."""

from collections.abc import Iterable, Mapping

from privarms.data import sources
from privarms.studies import paths


class Datasets:
    """The datasets that a run needs: real, a stand-in, or missing.

    of_sources: every dataset that sources.yaml describes
    statuses: dataset -> "real", "stand-in" or "missing", for those that the run needs
    """

    def __init__(self, of_sources: Mapping[str, sources.Dataset], statuses: Mapping[str, str]):
        self.sources = of_sources
        self.statuses = statuses

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
        return table is None or "source" in table

    def prepared(self, dataset: str, extension: str = "parquet") -> str:
        """Return the path of a prepared dataset, or of the facts about it (json)."""
        return paths.prepared(dataset, extension, self.statuses[dataset] == "stand-in")

    def origin(self, datasets: Iterable[str]) -> str:
        """Return the origin of results from these datasets: stand-in, real or simulated."""
        statuses = {self.statuses[d] for d in datasets}
        return "stand-in" if "stand-in" in statuses else "real" if statuses else "simulated"

    def raw_files(self, dataset: str) -> list[str]:
        """Return the paths of a dataset's raw files."""
        return [str(sources.raw_path(self.sources[dataset], file)) for file in self.sources[dataset].files]

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
        """Return which file of a dataset is missing, where to get it and where to put it."""
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
