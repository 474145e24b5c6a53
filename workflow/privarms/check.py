"""`privarms check FOLDER`: the contract, on every policy, environment and audit of an extension, at a tiny size.

What a run would find in its first minutes, and what it would not: a fast path of another law than the plain functions,
a run that cannot be repeated, values that compile anew, privacy that is not there. Policies run in the cells of the
folder's own studies; one that is in none of them runs on Bernoulli arms if it is a bandit, and else on the environment
of a study of ours that runs its family. In place of real data stand a few made-up users.
"""

import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numba
import numpy as np
import pyarrow as pa
from scipy.stats import ks_2samp

from privarms.audits.reduction import epsilon_lower_bound, reduce
from privarms.errors import PrivarmsError
from privarms.files import parquet
from privarms.studies import (
    additions,
    configuration,
    contract,
    cost,
    defaults,
    library,
    paths,
    run,
    source_faults,
    strangers,
)
from privarms.studies.cells import Cell, expand
from privarms.studies.shards import Piece
from privarms.studies.streams import stream

SEED = 20190609
HORIZON = 1_000
# Runs of which two laws are compared: as many as take so many seconds, within these numbers.
RUNS, FEWEST_RUNS, SECONDS = 2_000, 100, 5.0
# Users that are made up in place of a dataset's.
USERS, SOURCE_USERS = 1_000, 200
# Of one comparison of two laws, and of one audit.
FALSE_ALARM = 1e-5
# Rounds of an audit: the fewest of these in which anything is chosen at random.
AUDIT_ROUNDS, AUDIT_TRIALS, AUDIT_EPSILON = (60, 240, 960), 40_000, 1.0
VALUES = {"K": 3, "horizon": HORIZON, "epsilon": 1.0}


class Found(NamedTuple):
    """One line of the report. passed: None where nothing could be judged."""

    subject: str
    what: str
    passed: bool | None
    said: str


def run_check(folder: Path) -> int:
    """Print the findings about an extension, or one module of it; 1 if anything failed."""
    failed = 0
    try:
        for found in check(folder):
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
                    yield Found(name, "contract", False, _without_our_study(str(error)))
                except Exception as error:
                    yield Found(name, "contract", False, _of_a_fault(room, name, error))


def _of_a_fault(room: str, name: str, error: Exception) -> str:
    """What a module of the folder raised, with its line where that is known: compiled code does not know it."""
    place = strangers.innermost(error)
    compiled = "" if place else "; `NUMBA_DISABLE_JIT=1 privarms check` runs without numba and names the line"
    where = place or library.shown(library.source_file(room, name))
    return f"{where}: {type(error).__name__}: {error}{compiled}"


def _without_our_study(said: str) -> str:
    """A message without the key of the study that is made up here for a policy that none of the folder's own runs."""
    return re.sub(r"^(?:.*?: )?studies\.check(?:\.policies\[0\]\.policy)?: ", "", said)


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
        # Bernstein's inequality with 6 standard errors: rewards of a rare kind may all be missing.
        deviation = max(rewards.std(), np.sqrt(max(mean * (1 - mean), 0)))
        allowed = 6 * deviation / np.sqrt(n) + 36 / n
        if not off <= allowed:
            said = f"arm {arm}: {n} rewards have the mean {rewards.mean():.4g}, and `means` says {mean:.4g}"
            yield Found(name, "means", False, said)
            return
    yield Found(name, "means", True, f"{n} rewards of each of {len(environment.means)} arms have these means")


def _of_policy(name: str, cells: list[Cell]) -> Iterator[Found]:
    family = library.family(name)
    used = [c for c in cells if c.policy == name] or ([_bernoulli(name)] if family == "bandit" else _borrowed(name))
    protocol = used[0].protocol if used else family
    environment = used[0].environment if used else "bernoulli"
    contract.check(library.policy_file(name), name, protocol, environment)
    yield Found(name, "contract", True, f"fits the family {family}")
    if not used:
        yield Found(name, "runs", None, f"{_at(name, 'configure')}: no study of this folder runs it; give it one")
        return
    cell = _short(used[0])
    first, again = _run(cell), _run(cell)
    same = all(first[c].equals(again[c]) for c in first.column_names)
    yield Found(name, "same bytes twice", same, "two runs on one stream" + ("" if same else " differ"))
    yield _compiled_once(name, cell, [_short(c) for c in used[1:]])
    yield _cost(name, cell)
    for at in getattr(library.load("policies", name), "SIMULATE", {}):
        there = [c for c in used if c.environment == at and library.literals("protocols", c.protocol)["FAMILY"]]
        there = there or ([_bernoulli(name)] if family == "bandit" and at == "bernoulli" else _borrowed(name, at))
        if there:
            yield _fast_path(name, _short(there[0]))
        else:
            yield Found(name, f"fast path on {at}", None, "no study of this folder runs it there; give it one")
    if library.claims_epsilon(name):
        yield _audit(name, cell)


def _at(name: str, function: str) -> str:
    return source_faults.line(library.source_file("policies", name), function)


def _borrowed(name: str, environment: str | None = None) -> list[Cell]:
    """A cell of a study of ours with this policy in place of its own: the smallest of the first that it fits."""
    takes, family = library.arguments("policies", name), library.family(name)
    for file in sorted(Path(paths.found("config/studies")).glob("*.yaml")):
        for study_name, study in configuration.load_paper(file, "quick")["studies"].items():
            protocol, used = study["protocol"], study["environment"]["name"]
            if library.literals("protocols", protocol).get("FAMILY") != family or environment not in (None, used):
                continue
            known = {*takes, *library.environment_arguments(used), "horizon"}
            study = {k: v for k, v in study.items() if k != "record"}
            for entry in study["policies"]:
                for grid in _axes(entry.get("grid", study.get("grid", {}))):
                    first = {k: _least(v) for k, v in {**entry, **grid}.items() if k in known}
                    one = {**study, "grid": first, "policies": [{"policy": name}], "replicates": 20, "block": 10}
                    try:
                        return expand(library.policy_file(name), "check", study_name, one)
                    except PrivarmsError:
                        continue
    return []


def _axes(grid: Mapping | list) -> list[Mapping]:
    return [axes for one in grid for axes in _axes(one)] if isinstance(grid, list) else [grid]


def _least(values):
    """The smallest of an axis of numbers, the first of any other."""
    if not isinstance(values, list):
        return values
    return min(values) if all(isinstance(v, int | float) for v in values) else values[0]


@cache
def _made_up_users() -> str:
    """A prepared dataset: contexts in the unit square, three labels that depend on them, and one auxiliary source."""
    rng, n = np.random.default_rng(SEED), USERS + SOURCE_USERS
    x = rng.random((n, 2))
    columns = {"x1": x[:, 0], "x2": x[:, 1], "label": (3 * x[:, 0]).astype(np.int64)}
    columns["source"] = np.repeat([0, 1], [USERS, SOURCE_USERS])
    path = Path(tempfile.mkdtemp(prefix="privarms-check-")) / "users.parquet"
    parquet.write(path, [pa.table(columns)], {"facts": {"dimensions": 2, "K": 3, "sources": 1}})
    return str(path)


def _prepared(cell: Cell) -> dict[str, str]:
    return {cell.dataset: _made_up_users()} if cell.dataset else {}


def _bernoulli(policy: str) -> Cell:
    """Bernoulli arms, and values for what the policy must be told."""
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
    cell = replace(cell, checkpoint_rule=None, record=None)
    if cell.horizon is None or "horizon" in cell.environment_parameters or cell.protocol == "experiment":
        return replace(cell, replicates=4, block=2)
    horizon = min(cell.horizon, USERS if cell.dataset else HORIZON)
    own = {k: horizon if k == "horizon" else v for k, v in cell.policy_parameters.items()}
    return replace(cell, horizon=horizon, policy_parameters=own, replicates=4, block=2)


def _run(cell: Cell) -> pa.Table:
    return run.run_piece(Piece(cell, 0, cell.blocks), SEED, _prepared(cell))


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
            run.run_piece(Piece(other, 0, 1), SEED, _prepared(other))
        except PrivarmsError:
            if other in alike:
                raise
    after = [len(f.signatures) for f in _dispatchers(name)]
    anew = [f.__name__ for f, a, b in zip(_dispatchers(name), before, after, strict=True) if b > a]
    place = source_faults.line(library.source_file("policies", name), "configure")
    said = f"{place}: other values compile {', '.join(anew)} anew; expected parameters of one type" if anew else "ok"
    return Found(name, "compiled once", not anew, said if anew else "other values compile nothing")


def _cost(name: str, cell: Cell) -> Found:
    long = replace(cell, horizon=cell.horizon and min(cell.horizon * 10, 100_000))
    own = cell.policy_parameters | cell.environment_parameters
    if cell.dataset or cell.protocol == "experiment" or "horizon" in own:
        long = cell
    seconds = min(_seconds(long) for _ in range(3))
    per_step = seconds / ((cell.horizon and long.horizon) or 1)
    rounds = f" of {long.horizon:,} rounds" if long.horizon else ""
    said = f"{cost.duration(seconds)} a run{rounds}; its module says {cost.duration(long.seconds)}"
    fits = seconds < max(cost.FACTOR * long.seconds, 0.05)
    return Found(name, "cost", fits, said if fits else f"{said}; set SECONDS_PER_STEP = {per_step:.1g}")


def _seconds(cell: Cell) -> float:
    """What a run takes, alone."""
    policy, params, environment, protocol = _configured(cell)
    streams = stream(SEED, cell.environment_identity, 0), stream(SEED, cell.identity, 0)
    began = time.process_time()
    protocol.run_block(policy, params, environment, cell, 1, *streams)
    return time.process_time() - began


def _configured(cell: Cell) -> tuple:
    policy = strangers.checked(library.load("policies", cell.policy))
    environment = run.configure_environment(cell, _prepared(cell))
    params = policy.configure(**{**run.told(cell, environment), **cell.policy_parameters})
    return policy, params, environment, library.load("protocols", cell.protocol)


def _fast_path(name: str, cell: Cell) -> Found:
    """Whether the fast path has the law of the plain functions: all that the protocol records of whole runs."""
    policy, params, environment, protocol = _configured(cell)
    function = library.functions(library.source_file("policies", name), "SIMULATE")[cell.environment]
    what, place = f"fast path on {cell.environment}", _at(name, function)
    plain = SimpleNamespace(**{**vars(policy), "SIMULATE": {}})
    literals = library.literals("protocols", cell.protocol)
    records = [r for r in literals.get("RECORDS", (None,)) if r not in literals.get("ROW_PER_BLOCK", ())]

    def sample(module, record: str | None, block: int, replicates: int) -> dict[tuple, np.ndarray]:
        streams = stream(SEED, cell.environment_identity, block), stream(SEED, cell.identity, block)
        of_record = replace(cell, record=record)
        return _by_key(
            protocol.run_block(module, params, environment, of_record, replicates, *streams), literals["KEYS"]
        )

    for _ in range(2):  # the first one compiles
        began = time.perf_counter()
        sample(plain, records[0], 0, 4)
    runs = int(np.clip(4 * SECONDS / (time.perf_counter() - began), FEWEST_RUNS, RUNS))
    p_values = []
    for record in records:
        try:
            fast = sample(policy, record, 1, runs)
        except ValueError as error:
            return Found(name, what, False, f"{place}: {error}")
        for key, numbers in sample(plain, record, 0, runs).items():
            p_values.append(ks_2samp(numbers, fast[key]).pvalue if key in fast else 0.0)
    same = min(p_values) > FALSE_ALARM / len(p_values)
    said = f"{runs} runs each, {len(p_values)} numbers of them, least p = {min(p_values):.2g}"
    return Found(name, what, same, said if same else f"{place}: {said}: another law than the plain functions")


def _by_key(columns: Mapping[str, np.ndarray], keys: tuple[str, ...]) -> dict[tuple, np.ndarray]:
    """The sample of each measure at each key; what is missing counts as smallest, and rounding does not count."""
    own = [k for k in keys if k in columns]
    rows = list(zip(*(columns[k].tolist() for k in own), strict=True)) if own else [()] * len(columns["replicate"])
    places: dict[tuple, list[int]] = {}
    for i, key in enumerate(rows):
        places.setdefault(key, []).append(i)
    return {
        (*key, name): np.nan_to_num(np.round(np.asarray(values[at], float), 6), nan=-1e300)
        for name, values in columns.items()
        if name not in (*own, "replicate")
        for key, at in places.items()
    }


def _audit(name: str, cell: Cell) -> Found:
    """Reward sequences that differ in one reward, and what is chosen: half of the trials choose the event, half count
    it. Of a stopping rule samples and when it stops.

    Fails where the lower bound on the privacy loss, at the level FALSE_ALARM over all pairs, exceeds epsilon.
    """
    policy, family = library.load("policies", name), library.family(name)
    if family not in ("bandit", "contextual", "linear", "experiment", "stopping"):
        return Found(name, "privacy", None, f"no general audit of the family {family}; write one (audits/)")
    told = run.told(cell, run.configure_environment(cell, _prepared(cell)))
    rng = np.random.default_rng(SEED)
    for rounds in AUDIT_ROUNDS:
        params = _audited(policy, {**told, **cell.policy_parameters}, rounds)
        rates = _tried(family, policy, params, np.zeros(rounds), rng, 200).mean(axis=0)
        if ((rates > 0) & (rates < 1)).any():
            break
    pairs = [(base, at) for base in (0.0, 1.0) for at in (1, 2, rounds // 2)]
    largest = -np.inf
    for base, at in pairs:
        both = []
        for changed in (False, True):
            rewards = np.full(rounds, base)
            rewards[at - 1] = 1 - base if changed else base
            both.append(_events(_tried(family, policy, params, rewards, rng, AUDIT_TRIALS)))
        half = AUDIT_TRIALS // 2
        rates = [e[:half].mean(axis=0) for e in both]
        for likely, other in ((0, 1), (1, 0)):
            best = int(np.argmax(np.log((rates[likely] + 10 / half) / (rates[other] + 10 / half))))
            counts = [int(both[i][half:, best].sum()) for i in (other, likely)]
            level = 1 - FALSE_ALARM / (2 * len(pairs))
            largest = max(largest, epsilon_lower_bound(counts[0], half, counts[1], half, level))
    kept = largest <= AUDIT_EPSILON
    said = f"claims {AUDIT_EPSILON:g}; {len(pairs)} pairs of inputs show a loss of at least {max(largest, 0):.2g}"
    return Found(name, "privacy", kept, said if kept else f"{library.policy_file(name)}: {said}")


def _audited(policy, parameters: Mapping, rounds: int):
    """Parameters for so many rounds and two arms, where a policy can have these."""
    # At a smaller epsilon less is promised and much less can be shown.
    sizes = {k: v for k, v in {"horizon": rounds, "K": 2}.items() if k in parameters}
    try:
        return policy.configure(**{**parameters, **sizes, "epsilon": AUDIT_EPSILON})
    except ValueError:
        # Some sizes do not go with others; those of the cell do.
        return policy.configure(**{**parameters, "epsilon": AUDIT_EPSILON})


def _tried(family: str, policy, params, rewards: np.ndarray, rng, trials: int) -> np.ndarray:
    """bool[trials, rounds]: whether arm 0 is chosen in each round, or a rule has stopped by then."""
    found = np.zeros((trials, len(rewards)), np.bool_)
    if family == "stopping":
        _stopped(policy.RULE, params, (2 * rewards - 1) * params.R, rng, found)
        return found
    # Whatever is no reward is the same in all trials, and known to who looks on.
    fixed, K, d = np.random.default_rng(SEED), getattr(params, "n_arms", 2), getattr(params, "dimensions", 0)
    if family == "linear":
        _chosen_by_contexts(policy.POLICY, params, fixed.random((len(rewards), K, d)), rewards, rng, found)
    elif family == "experiment":
        _chosen(policy.POLICY, params, fixed.integers(params.design.M, size=len(rewards)), rewards, rng, found)
    else:
        d = d if family == "contextual" else 0
        _chosen(policy.POLICY, params, fixed.random((len(rewards), d)), rewards, rng, found)
    return found


def _events(first_arm: np.ndarray) -> np.ndarray:
    """bool[trials, events]: arm 0 in each round, and at most so many pulls of it, and their opposites."""
    pulls = first_arm.sum(axis=1)
    few = [pulls <= n for n in range(0, first_arm.shape[1], 3)]
    one_way = np.column_stack([first_arm, *few])
    return np.concatenate([one_way, ~one_way], axis=1)


@numba.njit
def _chosen(policy, params, contexts, rewards, rng, found):
    for i in range(found.shape[0]):
        state = policy.init(params)
        for t in range(1, len(rewards) + 1):
            arm = policy.choose(params, state, contexts[t - 1], t, rng)
            state = policy.learn(params, state, contexts[t - 1], arm, rewards[t - 1], t, rng)
            found[i, t - 1] = arm == 0


@numba.njit
def _chosen_by_contexts(policy, params, contexts, rewards, rng, found):
    for i in range(found.shape[0]):
        state = policy.init(params)
        for t in range(1, len(rewards) + 1):
            arm = policy.choose(params, state, contexts[t - 1], t, rng)
            state = policy.learn(params, state, contexts[t - 1, arm], arm, rewards[t - 1], t, rng)
            found[i, t - 1] = arm == 0


@numba.njit
def _stopped(rule, params, samples, rng, found):
    for i in range(found.shape[0]):
        state = rule.init(params, rng)
        t, total, stopped = 0, 0.0, False
        while not stopped:
            state = rule.ask(params, state, rng)
            if state.at > len(samples):
                break
            while t < state.at:
                total += samples[t]
                t += 1
            stopped = rule.stops(params, state, t, total, rng)
        if stopped:
            found[i, t - 1 :] = True


def _audit_of_its_own(name: str, cells: list[Cell]) -> Iterator[Found]:
    """An audit module of the folder, in the cells of a study."""
    if not cells:
        yield Found(name, "audit", None, "no study of this folder runs it; give it one of the protocol audit")
        return
    import pandas as pd

    parts = []
    for cell in cells:
        table = run.run_piece(Piece(cell, 0, cell.blocks), SEED, _prepared(cell)).to_pandas()
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
    from privarms import command

    sys.exit(command.main(["check", *sys.argv[1:]]))
