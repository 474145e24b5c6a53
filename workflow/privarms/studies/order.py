"""In which order the papers are made: one after the other, so that results of a paper are there before all are."""

from collections.abc import Mapping, Sequence

from privarms.studies.outputs import Outputs
from privarms.studies.simulation import Simulation

# Of one paper, what is nearer to its results goes first.
STAGES = ("simulate", "aggregate", "infer", "show")


class Order:
    """The order of a run: papers with least work first, those that read the audits of all others last."""

    def __init__(self, simulation: Simulation, outputs: Outputs):
        self.seconds = {paper: simulation.seconds(paper) for paper in outputs.papers}
        self._of_all = {paper for paper in outputs.papers if outputs.reads_audits(paper)}
        self.papers = sorted(outputs.papers, key=lambda paper: (paper in self._of_all, self.seconds[paper]))
        self._users: Mapping[str, Sequence[str]] = {
            dataset: [p for p in outputs.papers if dataset in outputs.datasets_of(p)]
            for dataset in outputs.datasets.statuses
        }

    def priority(self, paper: str, stage: str) -> int:
        """Snakemake's priority of a job of a paper, above 0; stage: one of STAGES. 0 for a paper that is not there."""
        if paper not in self.papers:
            return 0
        behind = len(self.papers) - self.papers.index(paper)
        return len(STAGES) * behind + STAGES.index(stage)

    def priority_of_data(self, dataset: str) -> int:
        """That of the first paper that needs a dataset."""
        return max((self.priority(paper, STAGES[-1]) for paper in self._users.get(dataset, ())), default=0)

    def priority_of_audits(self) -> int:
        """Just before the runs of the first paper that reads the audits of all, so that it need not wait for these."""
        return max((self.priority(paper, STAGES[-1]) for paper in self._of_all), default=0)
