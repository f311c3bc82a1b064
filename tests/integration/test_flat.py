"""A flat page: one page with files of several projects, as find-links pages are."""

from __future__ import annotations

from pathlib import Path

from tests.support.command import lockforge
from tests.support.locks import Lock
from tests.support.world import Answer, World


def test_a_flat_page_serves_what_is_routed_to_it(world: World, tmp_path: Path) -> None:
    """Its files have relative addresses and no hash; other names stay with the default index."""
    acme = world.add("pypi", "acme-1.0-py3-none-any.whl", requires=["other"])
    world.add("pypi", "other-1.0-py3-none-any.whl")
    page = "".join(
        f'<a href="files/{name}">{name}</a>\n'
        for name in ("acme-1.0-py3-none-any.whl", "other-2.0-py3-none-any.whl")
    )
    world.answers["/links.html"] = Answer(body=page.encode())
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["acme"]\n'
        '[tool.lockforge]\nmatrix = ["linux-cpu"]\npython = ["3.12"]\n'
        f'[[tool.lockforge.index]]\nname = "links"\nurl = "{world.base}/links.html"\n'
        'format = "flat"\npackages = ["acme"]\n'
    )

    ended = lockforge("lock", "--project", tmp_path, "--index-url", world.default_url)

    assert ended.status == 0, ended.err
    selected = Lock(tmp_path / "pylock.toml").select("linux")
    assert selected["acme"].url == f"{world.base}/files/acme-1.0-py3-none-any.whl"
    assert selected["acme"].sha256 == acme.sha256
    assert (selected["other"].version, selected["other"].index) == ("1.0", f"{world.base}/simple")
