"""A cell, one point of a study's grid with all values that a run needs, and the blocks of it that a job runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from privarms.execution.streams import digest
from privarms.registry.modules import EnvironmentModule, Module, PolicyModule

# Defaults for policies and audits without an estimate of their own.
SECONDS_PER_RUN, SECONDS_PER_STEP = 1e-5, 1e-7


@dataclass(frozen=True)
class Cell:
    """One point of a study's grid, with all values that a run needs.

    replicates, block: number of runs, and number of runs that share one random stream
    checkpoint_rule: {count, first} for a geometric grid of rounds that ends at the horizon; with `quarters`, the
    horizon's quarters (rounded down) are added; None for only the horizon
    seconds_per_step: estimated time of a step if the policy's own estimate does not fit; changes no result
    panels: the names of the grids that contain the cell, separated by blanks; a column of the study, no parameter
    tags: of the grids that contain the cell; statements use cells with a tag. They do not influence the runs
    """

    paper: str
    study: str
    protocol: str
    policy: str
    environment: str
    horizon: int | None
    policy_parameters: Mapping
    environment_parameters: Mapping
    replicates: int
    block: int
    record: str | None = None
    checkpoint_rule: Mapping | None = field(default=None, hash=False)
    seconds_per_step: float | None = None
    panels: str = ""
    tags: tuple[str, ...] = field(default=(), compare=False)

    @property
    def variant(self) -> str:
        """Return `as_printed`, `as_released`, or "" if the two do not differ; the policy's variant has priority."""
        return self.policy_parameters.get("variant", self.environment_parameters.get("variant", ""))

    @property
    def parameters(self) -> dict:
        """Return the parameters of environment and policy in one mapping, without `horizon` and `variant`."""
        both = {**self.environment_parameters, **self.policy_parameters}
        return {k: v for k, v in both.items() if k not in ("horizon", "variant")}

    @cached_property
    def identity(self) -> str:
        """Return the digest that names the cell's own streams; it ignores the number of runs and their record."""
        parameters = _undeviated(self.policy, _streamed(PolicyModule(self.policy), self.policy_parameters))
        # A policy that was split off from another one keeps its streams.
        policy = PolicyModule(self.policy).streamed_as.get("policy", self.policy)
        own = {"policy": policy, "policy_parameters": parameters}
        return digest(self._surroundings() | own)

    @cached_property
    def environment_identity(self) -> str:
        """Return the same digest without the policy: the streams that compared policies share."""
        return digest(self._surroundings())

    def _surroundings(self) -> dict:
        names = EnvironmentModule(self.environment).streamed_as
        return {
            "paper": self.paper,
            "study": self.study,
            "environment": names.get("environment", self.environment).format(policy=self.policy),
            "horizon": self.horizon,
            "environment_parameters": _streamed(EnvironmentModule(self.environment), self.environment_parameters),
        }

    @property
    def name(self) -> str:
        """Return a short, unique, stable name for the cell's rows."""
        return f"{self.policy}-{self.identity[:12]}"

    @cached_property
    def checkpoints(self) -> np.ndarray | None:
        """Return the recorded rounds: int64, increasing, the last one the horizon."""
        if self.horizon is None:
            return None
        if self.checkpoint_rule is None:
            return np.array([self.horizon], np.int64)
        first, count = self.checkpoint_rule["first"], self.checkpoint_rule["count"]
        grid = np.rint(np.geomspace(min(first, self.horizon), self.horizon, count))
        if self.checkpoint_rule.get("quarters"):
            grid = np.concatenate([grid, np.maximum(np.arange(1, 4) * self.horizon // 4, 1)])
        return np.unique(grid.astype(np.int64))

    @property
    def dataset(self) -> str | None:
        """Return the dataset of the environment; None without one."""
        return self.environment_parameters.get("dataset")

    @cached_property
    def seconds(self) -> float:
        """Return the estimated seconds of one replicate on one core."""
        # An audit that does not run the policy to the horizon states the cost of a trial itself.
        cost = {**PolicyModule(self.policy).costs, **EnvironmentModule(self.environment).costs}
        per_step = self.seconds_per_step or cost.get("SECONDS_PER_STEP", SECONDS_PER_STEP)
        return cost.get("SECONDS_PER_RUN", SECONDS_PER_RUN) + per_step * (self.horizon or 0)

    @property
    def blocks(self) -> int:
        """Return the number of blocks; the last one may be shorter."""
        return -(-self.replicates // self.block)


FIELDS = tuple(f.name for f in fields(Cell) if f.name != "tags")


def _streamed(module: Module, parameters: Mapping) -> dict:
    """Return parameters by the names under which they are hashed; STREAMED_AS keeps the streams of renamed ones.

    Its keys `policy` and `environment` rename the modules themselves; in the latter {policy} is the policy's name.
    """
    names = module.streamed_as
    return {names.get(key, key): value for key, value in parameters.items()}


def plain(cell: Cell) -> dict:
    """Return a cell as a plain mapping, `Cell(**plain(cell)) == cell`; its values are the cell's own, not copies."""
    return {name: getattr(cell, name) for name in FIELDS}


def _undeviated(policy: str, parameters: Mapping) -> dict:
    """Return a policy's parameters, each deviation replaced by its value in DEVIATIONS, which names the streams."""
    sets = PolicyModule(policy).deviations
    result = {k: v for k, v in parameters.items() if k != "deviation" or not sets}
    for name in parameters.get("deviation", "").split() if sets else ():
        result[name] = sets[name][parameters["variant"] == "as_printed"]
    return result


@dataclass(frozen=True)
class Piece:
    """Blocks [first, last) of one cell."""

    cell: Cell
    first: int
    last: int

    @property
    def seconds(self) -> float:
        """Return the estimated seconds on one core."""
        replicates = min(self.last * self.cell.block, self.cell.replicates) - self.first * self.cell.block
        return self.cell.seconds * replicates
