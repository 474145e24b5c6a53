# privarms: `snakemake --cores N` is scale paper, `snakemake --cores N --configfile config/quick.yaml` is scale quick.
import gc
import importlib.util
import os
import re
import sys
import time

from snakemake.exceptions import WorkflowError
from snakemake.persistence import PersistenceBase
from snakemake.utils import min_version

# Both environments install the library. Where another one is found or none (an environment of a job's own, a second
# checkout) jobs are told where this project's lies.
HERE = workflow.current_basedir.get_path_or_uri(secret_free=False)
# A plan is hundreds of thousands of things that stay. To go through them again and again for what nobody refers to any
# more took a fifth of the time until the first job. `onstart` begins again; it is not run in a workflow that has this
# one as a module, nor in the processes of a cluster's jobs, which are short.
if os.path.dirname(workflow.main_snakefile) == HERE:
    gc.disable()
    # To see whether a parameter is one of pandas' Snakemake imports it, for every plan. Ours are plain.
    if hasattr(PersistenceBase, "_serialize_param_builtin"):
        PersistenceBase._serialize_param = property(lambda self: self._serialize_param_builtin)
LIBRARY = os.path.join(HERE, "workflow")
installed = importlib.util.find_spec("privarms")
if installed is None or os.path.dirname(os.path.dirname(installed.origin)) != LIBRARY:
    sys.path.insert(0, LIBRARY)
    os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, [LIBRARY, os.environ.get("PYTHONPATH")])))

    envvars:
        "PYTHONPATH",


from privarms import forks
from privarms.claims import summary
from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.studies import paths
from privarms.studies.resources import growing
from privarms.studies.start import announce, configfiles_before_the_last, make_plan

min_version("9.27")


report: "workflow/report/workflow.rst"


SETTINGS = os.path.join(HERE, "config", "config.yaml")
try:
    # Read here first, where a fault in it is one clear error.
    DEFAULTS = settings.read(SETTINGS)
except PrivarmsError as error:
    raise WorkflowError(str(error))


configfile: SETTINGS


# Of several --configfile Snakemake reads the last one alone.
for file in configfiles_before_the_last(sys.argv if workflow.is_main_process else None):

    configfile: file


# A module of another workflow has no configfile; that workflow may give some keys alone.
for key, value in DEFAULTS.items():
    config.setdefault(key, value)

try:
    plan = make_plan(config, main=workflow.is_main_process)
except PrivarmsError as error:
    raise WorkflowError(str(error))

SCALE = plan.scale
LOCK = paths.beside("uv.lock")
BEGAN = time.time()
# Papers are made one after another, in the order of config/studies: the first results are early.
PRIORITY = {paper: number for number, paper in enumerate(reversed(list(plan.outputs.papers)), 1)}
DATA_FIRST = len(PRIORITY) + 1


wildcard_constraints:
    paper="[a-z][a-z0-9]*",
    study="[a-z][a-z0-9_]*(?<!_cells)",
    shard="[a-z][a-z0-9_]*-[0-9a-f]{12}",
    table="[a-z][a-z0-9_]*",
    artifact="[a-z][a-z0-9_]*",
    dataset="[a-z][a-z0-9]*",


rule all:
    default_target: True
    input:
        paths.report(SCALE),
        plan.outputs.files("figure"),
        plan.outputs.files("table"),
        paths.ledger(SCALE),
        paths.audit(SCALE),
    localrule: True


include: "workflow/rules/data.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/ledger.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/targets.smk"


onstart:
    gc.freeze()
    gc.enable()
    # A limit of jobs per second is for clusters. On one machine Snakemake 9 would look through all waiting jobs every
    # second once for each job that has ended, which took a quarter of a core late in a run.
    if workflow.local_exec and getattr(workflow.scheduler, "job_rate_limiter", None) is not None:
        workflow.scheduler.job_rate_limiter = None
    # A debugger needs the terminal.
    if not workflow.execution_settings.debug:
        forks.use(os.path.join(HERE, "workflow", "scripts"))
    summary.keep_previous_ledger(SCALE)


onsuccess:
    announce(plan)
    summary.show(SCALE, BEGAN)


onerror:
    announce(plan)
    summary.show(SCALE, BEGAN, failed=True)
