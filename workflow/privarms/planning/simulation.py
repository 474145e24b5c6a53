"""The simulations of a run: the cells of every paper's studies, and the shards that run them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from privarms.errors import PrivarmsError, check_known
from privarms.execution.cell import Cell
from privarms.planning import cells as grid
from privarms.planning import paths
from privarms.planning import shards as sharding
from privarms.planning.configuration import Configuration
from privarms.planning.datasets import Datasets
from privarms.planning.shards import Shard
from privarms.planning.studies import Paper
from privarms.registry.modules import EnvironmentModule, PolicyModule


class Simulation:
    """The cells and shards of a run.

    papers: by name, with the values of the scale
    """

    def __init__(self, config: Configuration, papers: Mapping[str, Paper], datasets: Datasets):
        self.scale = config.scale
        self.papers = papers
        self.datasets = datasets
        files = {paper: f"{paths.folder(config.papers, paper)}/studies.yaml" for paper in papers}
        planned = {
            (paper, study): grid.expand(files[paper], paper, study, entry)
            for paper, content in papers.items()
            for study, entry in content.studies.items()
        }
        # (paper, study) -> its cells that run, in order
        self.cells = {key: [c for c in cells if self._can_run(c)] for key, cells in planned.items()}
        # paper -> the tags of its grids
        self.tags = {
            paper: {tag for study in content.studies for cell in planned[paper, study] for tag in cell.tags}
            for paper, content in papers.items()
        }
        # Planned here, not on demand: if a rule's input function fails, Snakemake accepts the existing file.
        self._shards: dict[tuple[str, str], Shard] = {}
        # (paper, cell) -> the names of the shards with its blocks
        self._holders: dict[tuple[str, str], list[str]] = {}
        # (paper, shard) -> the number of shards before it of the same policy
        self._before: dict[tuple[str, str], int] = {}
        for paper, content in papers.items():
            # The names of grids are removed, because they do not change the runs.
            cells = (replace(c, panels="") for study in content.studies for c in self.cells[paper, study])
            by_policy = Counter()
            for shard in sharding.plan(cells, config.shard_seconds, datasets.own):
                self._shards[paper, shard.name] = shard
                policy = shard.pieces[0].cell.policy
                self._before[paper, shard.name] = by_policy[policy]
                by_policy[policy] += 1
                for piece in shard.pieces:
                    self._holders.setdefault((paper, piece.cell.name), []).append(shard.name)

    def _can_run(self, cell: Cell) -> bool:
        """Return whether the cell's dataset exists, with auxiliary sources if the policy learns from them."""
        if cell.dataset is None:
            return True
        if self.datasets.is_missing(cell.dataset):
            return False
        learns = "auxiliary" in PolicyModule(cell.policy).arguments
        alone = cell.policy_parameters.get("auxiliary") == "without"
        return self.datasets.has_auxiliary(cell.dataset) or not learns or alone

    def tagged(self, paper: str, studies: Iterable[str] | None = None) -> dict[str, tuple[str, ...]]:
        """Return cell -> the tags of its grids, for cells of a paper (or some studies) that run and have a tag."""
        chosen = self.papers[paper].studies if studies is None else studies
        return {c.name: c.tags for study in chosen for c in self.cells[paper, study] if c.tags}

    def shrunk(self, paper: str) -> list[str]:
        """Return the cells of the studies whose settings at this scale are not the published ones."""
        return sorted({c.name for study in self.papers[paper].shrunk for c in self.cells[paper, study]})

    def studies(self, paper: str) -> list[str]:
        """Return the paper's studies that have cells in this run."""
        return [study for study in self.papers[paper].studies if self.cells[paper, study]]

    def datasets_of(self, paper: str, study: str) -> list[str]:
        """Return the datasets that a study's cells use."""
        return sorted({c.dataset for c in self.cells[paper, study] if c.dataset})

    def audits(self, policy: str | None = None) -> list[tuple[str, str]]:
        """Return (paper, study) of every privacy audit that has cells in this run, or of those that run a policy."""
        return [
            (paper, study)
            for paper, content in self.papers.items()
            for study in self.studies(paper)
            if content.studies[study].protocol == "audit"
            and (policy is None or any(cell.policy == policy for cell in self.cells[paper, study]))
        ]

    def claims(self) -> list[str]:
        """Return the policies of this run that claim an epsilon and that no audit of the library names."""
        run = {c.policy for cells in self.cells.values() for c in cells if c.protocol != "audit"}
        return [p.name for p in map(PolicyModule, sorted(run)) if p.claims_epsilon and not p.has_library_audit]

    def audit_modules(self, policy: str | None = None) -> list[str]:
        """Return the library modules of these audits and of the policies that they are about, or of one policy."""
        cells = [c for paper, study in self.audits(policy) for c in self.cells[paper, study]]
        cells = [c for c in cells if policy in (None, c.policy)]
        used = [PolicyModule(c.policy) for c in cells] + [EnvironmentModule(c.environment) for c in cells]
        return sorted({module.dotted for module in used})

    def lacking(self, paper: str, study: str) -> list[str]:
        """Return the missing datasets without which a study has no cells."""
        if self.cells[paper, study]:
            return []
        needed = self.papers[paper].studies[study].datasets & set(self.datasets.statuses)
        return sorted(d for d in needed if self.datasets.is_missing(d))

    def shard_files(self, paper: str, study: str) -> list[str]:
        """Return the files with a study's cells."""
        check_known(paper, "study", study, self.papers[paper].studies if paper in self.papers else ())
        holders = (shard for cell in self.cells[paper, study] for shard in self._holders[paper, cell.name])
        return [paths.shard(self.scale, paper, shard) for shard in dict.fromkeys(holders)]

    def shard(self, paper: str, name: str) -> Shard:
        """Return the shard of a name."""
        if (paper, name) not in self._shards:
            raise PrivarmsError(f"{paper}: no shard {name} in this plan; request the study, and its shards are created")
        return self._shards[paper, name]

    def delay(self, paper: str, shard: str) -> float:
        """Return 0 for the first shard of a policy, and more for each later one, below 1."""
        before = self._before[paper, shard]
        return before / (before + 1)
