from privarms.cli import crate


def test_a_link_to_raw_data_inside_of_an_extension_is_not_packed(tmp_path):
    for name in ("policies/bandit/own.py", "papers/mine/studies.yaml", "data/raw/visits/visits.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "papers/mine/grid.csv").symlink_to("../../data/raw/visits/visits.csv")
    (tmp_path / "papers/mine/published").symlink_to("../../data/raw/visits")
    (tmp_path / "policies/bandit/own.csv").symlink_to("../../data/raw/visits/visits.csv")
    (tmp_path / "policies/bandit/alias.py").symlink_to("own.py")
    packed = {str(file.relative_to(tmp_path)) for file in crate._allowed(tmp_path, crate.EXTENSION)}
    assert packed == {"policies/bandit/own.py", "policies/bandit/alias.py", "papers/mine/studies.yaml"}
