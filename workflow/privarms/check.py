"""`privarms check FOLDER`: the contract, on every policy, environment and audit of an extension, at a tiny size.

What a run would find in its first minutes, and what it would not: a fast path of another law than the plain functions,
a run that cannot be repeated, values that compile anew, privacy that is not there. Policies run in the cells of the
folder's own studies; a step-by-step bandit that is in none of them runs on Bernoulli arms.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from scipy.stats import ks_2samp

from privarms.audits.reduction import epsilon_lower_bound, reduce
from privarms.errors import PrivarmsError
from privarms.studies import additions, configuration, contract, cost, defaults, library, run, source_faults, strangers
from privarms.studies.cells import Cell, expand
from privarms.studies.shards import Piece

SEED = 20190609
HORIZON = 1_000
RUNS = 2_000
# Of one comparison of two laws, and of one audit.
FALSE_ALARM = 1e-5
AUDIT_ROUNDS, AUDIT_TRIALS, AUDIT_EPSILON = 60, 40_000, 1.0
VALUES = {"K": 3, "horizon": HORIZON, "epsilon": 1.0}


class Found(NamedTuple):
    """One line of the report. passed: None where nothing could be judged."""

    subject: str
    what: str
    passed: bool | None
    said: str


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit status is 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="privarms", description=__doc__.partition("\n")[0])
    check_folder = parser.add_subparsers(required=True).add_parser("check", help="try an extension at a tiny size")
    check_folder.add_argument("folder", help="the extension, or one module of it")
    given = parser.parse_args(arguments)
    failed = 0
    try:
        for found in check(Path(given.folder)):
            mark = {True: "ok", False: "FAILED", None: "-"}[found.passed]
            print(f"{mark:7} {found.subject}: {found.what}: {found.said}", flush=True)
            failed += found.passed is False
    except PrivarmsError as error:
        print(f"FAILED  {error}", flush=True)
        failed += 1
    print(f"{failed} failed" if failed else "nothing failed")
    return 1 if failed else 0


def check(target: Path) -> Iterator[Found]:
    """The findings about a folder, or about one module in it. PrivarmsError for one that cannot be an extension."""
    target = target.resolve()
    only = target.stem if target.suffix == ".py" else None
    rooms = (*library.OPEN_ROOMS, "studies")
    folder = next((p.parent for p in target.parents if p.name in rooms), target.parent) if only else target
    library.extend([folder])
    strangers.check_bounds()
    cells = list(_cells(folder))
    yield Found(folder.name, "studies", True if cells else None, f"{len(cells)} cells of scale quick can be planned")
    for room in ("environments", "policies"):
        for name in library.names(room):
            if library.is_extension(library.source_file(room, name)) and only in (None, name):
                findings = _of_policy if room == "policies" else _of_environment
                try:
                    yield from findings(name, cells)
                except PrivarmsError as error:
                    yield Found(name, "contract", False, str(error))


def _cells(folder: Path) -> Iterator[Cell]:
    """The cells of the folder's studies at scale quick, a few of each, short."""
    for file in sorted((folder / "studies").glob("*.yaml")):
        content = defaults.completed(configuration.load_paper(file, "quick", extension=True))
        for name, study in additions.add({content["paper"]: content}, {})[content["paper"]]["studies"].items():
            yield from expand(library.shown(file), content["paper"], name, study)


def _of_environment(name: str, cells: list[Cell]) -> Iterator[Found]:
    source_faults.check("environments", name)
    if library.literals("environments", name).get("SUBJECT"):
        yield from _audit_of_its_own(name, [c for c in cells if c.environment == name])
        return
    used = [c for c in cells if c.environment == name and c.protocol in ("bandit", "adaptive_tests")]
    if not used:
        yield Found(name, "rewards", None, "no study of this folder has it with a step-by-step bandit; give it one")
        return
    environment = run.configure_environment(used[0], {})
    rng, n = np.random.default_rng(SEED), 4_000
    for arm, mean in enumerate(environment.means):
        rewards = np.array([environment.pull(environment, arm, rng) for _ in range(n)])
        off = abs(rewards.mean() - mean)
        # Of the mean of so many rewards 6 standard errors, 1 in 5e8 if they are normal.
        allowed = 6 * rewards.std() / np.sqrt(n) + 1e-12
        if not off <= allowed:
            said = f"arm {arm}: {n} rewards have the mean {rewards.mean():.4g}, and `means` says {mean:.4g}"
            yield Found(name, "means", False, said)
            return
    yield Found(name, "means", True, f"{n} rewards of each of {len(environment.means)} arms have these means")


def _of_policy(name: str, cells: list[Cell]) -> Iterator[Found]:
    family = library.family(name)
    used = [c for c in cells if c.policy == name and c.dataset is None]
    if not used and family == "bandit":
        used = [_bernoulli(name)]
    protocol = used[0].protocol if used else family
    environment = used[0].environment if used else "bernoulli"
    contract.check(library.policy_file(name), name, protocol, environment)
    yield Found(name, "contract", True, f"fits the family {family}")
    if not used:
        yield Found(name, "runs", None, "no study of this folder runs it on generated data; give it one")
        return
    cell = _short(used[0])
    first, seconds = _timed(cell)
    again, _ = _timed(cell)
    same = all(first[c].equals(again[c]) for c in first.column_names)
    yield Found(name, "same bytes twice", same, "two runs on one stream" + ("" if same else " differ"))
    yield _compiled_once(name, cell, [_short(c) for c in used[1:]])
    yield _cost(name, cell, seconds)
    policy = library.load("policies", name)
    if family == "bandit":
        for at in getattr(policy, "SIMULATE", {}):
            same_environment = [c for c in used if c.environment == at and c.protocol == "bandit"]
            yield _fast_path(name, _short((same_environment or [_bernoulli(name)])[0]))
        if "epsilon" in library.arguments("policies", name):
            yield _audit(name, policy, cell)


def _bernoulli(policy: str) -> Cell:
    takes = library.arguments("policies", policy)
    own = {k: (a.choices[0] if a.choices else VALUES.get(k)) for k, a in takes.items() if a.required or k in VALUES}
    unknown = [k for k, v in own.items() if v is None]
    if unknown:
        raise PrivarmsError(
            f"{library.policy_file(policy)}: {', '.join(unknown)}: no default, and no study of this folder runs the "
            "policy; give it one"
        )
    study = {
        **{"protocol": "bandit", "environment": {"name": "bernoulli", "K": VALUES["K"], "top": 0.7, "bottom": 0.4}},
        **{"horizon": HORIZON, "replicates": 20, "block": 10},
        "policies": [{"policy": policy, **{k: v for k, v in own.items() if k not in ("K", "horizon")}}],
    }
    study["environment"].pop("K")
    return expand(library.policy_file(policy), "check", "check", {**study, "grid": {"K": VALUES["K"]}})[0]


def _short(cell: Cell) -> Cell:
    """The cell with a short horizon, where the protocol lets it have one, and few runs."""
    if cell.horizon is None or "horizon" in cell.environment_parameters or cell.protocol == "experiment":
        return replace(cell, replicates=4, block=2)
    horizon = min(cell.horizon, HORIZON)
    own = {k: horizon if k == "horizon" else v for k, v in cell.policy_parameters.items()}
    return replace(cell, horizon=horizon, policy_parameters=own, replicates=4, block=2)


def _timed(cell: Cell):
    began = time.perf_counter()
    table = run.run_piece(Piece(cell, 0, cell.blocks), SEED, {})
    return table, (time.perf_counter() - began) / cell.replicates


def _dispatchers(name: str) -> list:
    module = library.load("policies", name)
    functions = [*library.contract(library.family(name)), "simulate"]
    return [f for f in (getattr(module, n, None) for n in functions) if hasattr(f, "signatures")]


def _compiled_once(name: str, cell: Cell, others: list[Cell]) -> Found:
    """Other values must not compile anything: those of the other cells, and each number a little changed."""
    if numba.config.DISABLE_JIT:
        return Found(name, "compiled once", None, "numba is disabled")
    before = [len(f.signatures) for f in _dispatchers(name)]
    changed = {k: v * 1.25 for k, v in cell.policy_parameters.items() if isinstance(v, float)}
    changed |= {"epsilon": 2} if "epsilon" in cell.policy_parameters else {}
    alike = [c for c in others if c.environment == cell.environment and c.protocol == cell.protocol][:3]
    for other in (*alike, replace(cell, policy_parameters={**cell.policy_parameters, **changed})):
        try:
            run.run_piece(Piece(other, 0, 1), SEED, {})
        except PrivarmsError:
            if other in alike:
                raise
    after = [len(f.signatures) for f in _dispatchers(name)]
    anew = [f.__name__ for f, a, b in zip(_dispatchers(name), before, after, strict=True) if b > a]
    place = source_faults.line(library.source_file("policies", name), "configure")
    said = f"{place}: other values compile {', '.join(anew)} anew; expected parameters of one type" if anew else "ok"
    return Found(name, "compiled once", not anew, said if anew else "other values compile nothing")


def _cost(name: str, cell: Cell, _: float) -> Found:
    long = replace(cell, horizon=cell.horizon and min(cell.horizon * 10, 100_000))
    if cell.protocol == "experiment" or "horizon" in cell.policy_parameters:
        long = cell
    _timed(long)
    _, seconds = _timed(long)
    per_step = seconds / ((cell.horizon and long.horizon) or 1)
    said = (
        f"{cost.duration(seconds)} a run of {long.horizon or ''} rounds; its module says {cost.duration(long.seconds)}"
    )
    fits = seconds < max(cost.FACTOR * long.seconds, 0.05)
    return Found(name, "cost", fits, said if fits else f"{said}; set SECONDS_PER_STEP = {per_step:.1g}")


def _fast_path(name: str, cell: Cell) -> Found:
    """Whether the fast path has the law of the plain functions: regret and the pulls of each arm at the horizon."""
    from privarms.protocols.bandit import run_bandit
    from privarms.studies.streams import stream

    policy = library.load("policies", name)
    cell = replace(cell, checkpoint_rule=None)
    environment, params = run.configure_environment(cell, {}), policy.configure(**cell.policy_parameters)

    class Plain:
        POLICY = policy.POLICY

    samples = []
    for block, module in enumerate((policy, Plain)):
        regret, pulls, sums = run_bandit(module, params, environment, cell, RUNS, stream(SEED, cell.identity, block))
        if (pulls.sum(axis=1) != cell.horizon).any():
            place = source_faults.line(library.source_file("policies", name), "simulate")
            return Found(
                name, f"fast path on {cell.environment}", False, f"{place}: pulls do not add up to the horizon"
            )
        samples.append(np.column_stack([regret[:, -1], pulls, sums]))
    p_values = [ks_2samp(np.round(a, 6), np.round(b, 6)).pvalue for a, b in zip(*(s.T for s in samples), strict=True)]
    same = min(p_values) > FALSE_ALARM / len(p_values)
    place = source_faults.line(library.source_file("policies", name), "simulate")
    said = f"{RUNS} runs each: regret, pulls and reward sums, least p = {min(p_values):.2g}"
    return Found(name, f"fast path on {cell.environment}", same, said if same else f"{place}: {said}: another law")


def _audit(name: str, policy, cell: Cell) -> Found:
    """Reward sequences that differ in one reward, and choices: half of the trials choose the event, half count it.

    Fails where the lower bound on the privacy loss, at the level FALSE_ALARM over all pairs, exceeds epsilon.
    """
    parameters = {**cell.policy_parameters, **{k: AUDIT_ROUNDS for k in ("horizon",) if k in cell.policy_parameters}}
    # At a smaller epsilon less is promised and much less can be shown.
    parameters |= {"epsilon": AUDIT_EPSILON, **({"K": 2} if "K" in parameters else {})}
    params, epsilon = policy.configure(**parameters), AUDIT_EPSILON
    rng = np.random.default_rng(SEED)
    pairs = [(base, at) for base in (0.0, 1.0) for at in (1, 2, AUDIT_ROUNDS // 2)]
    largest = -np.inf
    for base, at in pairs:
        arms = []
        for changed in (False, True):
            rewards = np.full(AUDIT_ROUNDS, base)
            rewards[at - 1] = 1 - base if changed else base
            chosen = np.zeros((AUDIT_TRIALS, AUDIT_ROUNDS), np.int8)
            _choices(policy.POLICY, params, rewards, rng, chosen)
            arms.append(chosen == 0)
        half = AUDIT_TRIALS // 2
        events = [_events(one) for one in arms]
        rates = [e[:half].mean(axis=0) for e in events]
        for likely, other in ((0, 1), (1, 0)):
            best = int(np.argmax(np.log((rates[likely] + 10 / half) / (rates[other] + 10 / half))))
            counts = [int(events[i][half:, best].sum()) for i in (other, likely)]
            level = 1 - FALSE_ALARM / (2 * len(pairs))
            largest = max(largest, epsilon_lower_bound(counts[0], half, counts[1], half, level))
    kept = largest <= epsilon
    said = f"claims {epsilon:g}; {len(pairs)} pairs of reward sequences show a loss of at least {max(largest, 0):.2g}"
    return Found(name, "privacy", kept, said if kept else f"{library.policy_file(name)}: {said}")


def _events(first_arm: np.ndarray) -> np.ndarray:
    """bool[trials, events]: arm 0 in each round, and at least so many pulls of it, and their opposites."""
    pulls = first_arm.sum(axis=1)
    few = [pulls <= n for n in range(0, first_arm.shape[1], 3)]
    one_way = np.column_stack([first_arm, *few])
    return np.concatenate([one_way, ~one_way], axis=1)


@numba.njit
def _choices(policy, params, rewards, rng, chosen):
    no_context = np.empty(0)
    for i in range(chosen.shape[0]):
        state = policy.init(params)
        for t in range(1, len(rewards) + 1):
            arm = policy.choose(params, state, no_context, t, rng)
            state = policy.learn(params, state, no_context, arm, rewards[t - 1], t, rng)
            chosen[i, t - 1] = arm


def _audit_of_its_own(name: str, cells: list[Cell]) -> Iterator[Found]:
    """An audit module of the folder, in the cells of a study."""
    if not cells:
        yield Found(name, "audit", None, "no study of this folder runs it; give it one of the protocol audit")
        return
    import pandas as pd

    parts = []
    for cell in cells:
        table = run.run_piece(Piece(cell, 0, cell.blocks), SEED, {}).to_pandas()
        parts.append(table.assign(**cell.parameters, horizon=cell.horizon))
    rows = pd.concat(parts, ignore_index=True)
    audit = library.load("environments", name)
    settings = [k for k in rows if k in cells[0].parameters and k != "neighbour"]
    for row in reduce(rows, audit, settings, 1 - FALSE_ALARM).itertuples():
        kept = row.lower_bound <= row.claimed
        said = f"claims {row.claimed:g}; {row.trials:,} trials show a loss of at least {max(row.lower_bound, 0):.2g}"
        yield Found(name, f"audit of {row.subject}", kept, said)


if __name__ == "__main__":
    # python -m privarms.check FOLDER
    sys.exit(main(["check", *sys.argv[1:]]))
