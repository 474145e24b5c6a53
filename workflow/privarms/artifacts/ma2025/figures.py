"""The figures: each function takes the results and returns the figure and the numbers that it draws."""

import pandas as pd

from privarms.artifacts import style
from privarms.artifacts.curves import curves, interval
from privarms.artifacts.results import Results


def adult_absse(results: Results):
    """Average reward against t on Adult; of the constant arms only the best one is drawn."""
    cells = results.cells("adult_absse")
    ends = cells[(cells["policy"] == "constant") & (cells["t"] == cells["horizon"])]
    best = ends.loc[ends["reward_mean"].idxmax(), "cell"]
    shown = cells[(cells["policy"] != "constant") | (cells["cell"] == best)]
    looks = style.Palette(shown["policy"].unique())
    figure, ax = style.subplots(width=style.COLUMN, height=2.8)
    drawn = []
    for label, curve in curves(shown).items():
        policy = curve["policy"].iloc[0]
        average = curve[["reward_mean", "reward_se", "reward_p05", "reward_p95"]].div(curve["t"], axis=0)
        low, high = interval(average["reward_mean"], average["reward_se"], curve["replicates"])
        name = f"best constant arm ({curve['arm'].iloc[0]:g})" if policy == "constant" else label
        line = style.band(ax, curve["t"], average["reward_mean"], low, high, label=name, **looks.line(policy))
        light = {"color": line.get_color(), "alpha": 0.1, "linewidth": 0}
        ax.fill_between(curve["t"], average["reward_p05"], average["reward_p95"], **light)
        numbers = average.set_axis(["average_reward", "se", "p05", "p95"], axis=1)
        drawn.append(curve[["policy", "arm", "t", "replicates"]].join(numbers.assign(low=low, high=high)))
    ax.set(xscale="log", xlabel="users $t$", ylabel="average reward up to $t$", ylim=(0.4, 0.9))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, pd.concat(drawn, ignore_index=True)


FIGURES = {"adult_absse": adult_absse}
