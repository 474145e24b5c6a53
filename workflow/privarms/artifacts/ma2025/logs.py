"""What the authors' own result logs say: mean regret and its standard error per cell of Figures 7 to 9.

From the logs that were released with their program (github.com/Karlmyh/LDP-Contextual-MAB), runs counted once a seed:
30 of each cell, 50 in Figure 9(a). Facts to compare with; nothing of ours rests on them. The cells of Figure 7(a) come
from an older version of the program (the natural logarithm in the radius and nothing added under its root).
"""

from pathlib import Path

import pandas as pd

FILE = Path(__file__).with_suffix(".csv")
KEY = ["figure", "epsilon", "epsilon_aux", "gamma", "kappa", "n", "n_aux", "M", "order"]


def read() -> pd.DataFrame:
    """A row per cell: the columns of KEY, replicates, mean_regret, se_regret; `order` is empty where it does not apply.

    epsilon_aux is text, "2|8" where the two sources differ. The cells without auxiliary data stand once for every
    panel's epsilon_aux, gamma, kappa and order, with the same value: they are the same runs.
    """
    return pd.read_csv(FILE, dtype={"epsilon_aux": str, "order": str}, keep_default_na=True).fillna({"order": ""})
