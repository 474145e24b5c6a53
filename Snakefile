# privarms: `snakemake --cores N` is scale paper, `snakemake --cores N --configfile config/quick.yaml` is scale quick.
import importlib.util
import os
import re
import sys
import time

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

# Both environments install the library. Where another one is found or none (an environment of a job's own, a second
# checkout) jobs are told where this project's lies.
HERE = workflow.current_basedir.get_path_or_uri(secret_free=False)
LIBRARY = os.path.join(HERE, "workflow")
# Intel's vector mathematics has other last digits, where it is installed. Numba reads this when a job imports it.
os.environ["NUMBA_DISABLE_INTEL_SVML"] = "1"


envvars:
    "NUMBA_DISABLE_INTEL_SVML",


installed = importlib.util.find_spec("privarms")
if installed is None or os.path.dirname(os.path.dirname(installed.origin)) != LIBRARY:
    sys.path.insert(0, LIBRARY)
    os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, [LIBRARY, os.environ.get("PYTHONPATH")])))

    envvars:
        "PYTHONPATH",


from privarms import forkserver
from privarms.claims import summary
from privarms.errors import PrivarmsError
from privarms.files import settings
from privarms.studies import library, paths
from privarms.studies.resources import growing
from privarms.studies.start import announce, make_plan

min_version("9.27")


report: "workflow/report/workflow.rst"


SETTINGS = os.path.join(HERE, "config", "config.yaml")
try:
    # Read here first, where a fault in it is one clear error.
    DEFAULTS = settings.read(SETTINGS)
except PrivarmsError as error:
    raise WorkflowError(str(error))


configfile: SETTINGS


if sum(argument.partition("=")[0] in ("--configfile", "--configfiles") for argument in sys.argv) > 1:
    raise WorkflowError("Snakemake reads only the last --configfile; write --configfile once, all files after it")

# A module of another workflow has no configfile; that workflow may give some keys alone.
for key, value in DEFAULTS.items():
    config.setdefault(key, value)

try:
    plan = make_plan(config, main=workflow.is_main_process)
except PrivarmsError as error:
    raise WorkflowError(str(error))

SCALE = plan.scale
LOCK = paths.beside("uv.lock")
FILES = summary.Files(
    paths.report(SCALE),
    paths.ledger(SCALE),
    paths.statements(SCALE),
    paths.previous_ledger(SCALE),
    paths.logs(SCALE),
)
BEGAN = time.time()
# Papers are made one after another, in the order of their years: the first results are early.
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
    # A debugger needs the terminal.
    if workflow.local_exec and not workflow.execution_settings.debug:
        forkserver.use(os.path.join(HERE, "workflow", "scripts"), os.path.join(LIBRARY, "privarms"))
    summary.keep_previous_ledger(FILES)


onsuccess:
    announce(plan)
    summary.show(FILES, BEGAN)


onerror:
    announce(plan)
    summary.show(FILES, BEGAN, failed=True)
