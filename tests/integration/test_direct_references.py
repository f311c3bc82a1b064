"""Direct references of the project, locked and then installed by real pip and real uv."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.integration.conftest import Project
from tests.support.installers import HOST, PYTHON, Install, installed, site_packages, why_not_here
from tests.support.wheels import build_sdist, build_wheel, metadata_text
from tests.support.world import Answer, World

pytestmark = pytest.mark.skipif(why_not_here() is not None, reason=str(why_not_here()))

WHEEL = "acme-1.0-py3-none-any.whl"
# The hooks of PEP 517 and 660 without any build tool, which an isolated build could not fetch.
BACKEND = """
import base64, hashlib, pathlib, zipfile

INFO = "acme-1.5.dist-info"
METADATA = "Metadata-Version: 2.2\\nName: acme\\nVersion: 1.5\\nRequires-Dist: common\\n"
WHEEL = "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"


def _build(directory, files):
    name = "acme-1.5-py3-none-any.whl"
    files = files | {f"{INFO}/METADATA": METADATA, f"{INFO}/WHEEL": WHEEL}
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{path},sha256={digest.decode()},{len(text.encode())}\\n"
    files[f"{INFO}/RECORD"] = record + f"{INFO}/RECORD,,\\n"
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    module = pathlib.Path("acme/__init__.py")
    return _build(wheel_directory, {str(module): module.read_text()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _build(wheel_directory, {"acme.pth": str(pathlib.Path.cwd())})
"""


@pytest.fixture(params=["pip_install", "uv_sync", "uv_install"])
def install(request: pytest.FixtureRequest) -> Install:
    """Each way to install a lock."""
    found: Install = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["uv_sync", "uv_install"])
def uv_way(request: pytest.FixtureRequest) -> Install:
    """Each way to give a lock to uv."""
    found: Install = request.getfixturevalue(request.param)
    return found


@pytest.fixture(autouse=True)
def common(world: World) -> None:
    world.add("pypi", "common-1.5-py3-none-any.whl")
    # What a direct reference replaces: a newer version of the same name.
    world.add("pypi", "acme-9.0-py3-none-any.whl")


def wheel_bytes(marker: str = "own") -> bytes:
    return build_wheel(WHEEL, metadata_text("acme", "1.0", ["common"]), marker)


def put_wheel(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WHEEL).write_bytes(wheel_bytes())
    return folder / WHEEL


def put_tree(folder: Path, more: str = 'version = "1.5"') -> Path:
    (folder / "acme").mkdir(parents=True)
    (folder / "acme" / "__init__.py").write_text("marker = 'tree'\n", "utf-8")
    (folder / "backend.py").write_text(BACKEND, "utf-8")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "acme"\n{more}\ndependencies = ["common"]\n',
        "utf-8",
    )
    return folder


def write(project: Project, *dependencies: str) -> None:
    project.write(f"[project]\nname = 'demo'\nversion = '1'\ndependencies = {[*dependencies]}\n")


def locked(project: Project, *arguments: str) -> dict[str, dict[str, Any]]:
    """Lock for this machine; the entries by name."""
    lock = project.locked(*arguments, matrix=f"{HOST}-cpu,win-cpu", python=PYTHON)
    return {package["name"]: package for package in lock["packages"]}


def marker_of(venv: Path) -> str:
    return (site_packages(venv) / "acme" / "__init__.py").read_text("utf-8")


def test_a_wheel_at_an_address(install: Install, project: Project, venv: Path) -> None:
    entry = project.world.add("hidden", WHEEL, requires=["common"], marker="hidden")
    url = f"{project.world.base}{project.world.file_path('hidden', WHEEL)}"
    write(project, f"acme @ {url}")

    assert locked(project)["acme"] == {
        "name": "acme",
        "version": "1.0",
        "dependencies": [{"name": "common"}],
        "archive": {"url": url, "hashes": {"sha256": entry.sha256}},
    }

    ended = install(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.0", "common": "1.5"}
    assert "'hidden'" in marker_of(venv)


def test_a_wheel_with_its_hash_in_the_fragment(
    install: Install, project: Project, venv: Path
) -> None:
    """The fragment is the file's hash; in the lock it is where hashes are."""
    entry = project.world.add("hidden", WHEEL, requires=["common"])
    url = f"{project.world.base}{project.world.file_path('hidden', WHEEL)}"
    write(project, f"acme @ {url}#sha256={entry.sha256}")

    assert locked(project)["acme"]["archive"] == {"url": url, "hashes": {"sha256": entry.sha256}}

    ended = install(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr


def test_a_changed_wheel_is_refused(install: Install, project: Project, venv: Path) -> None:
    entry = project.world.add("hidden", WHEEL, requires=["common"])
    url = f"{project.world.base}{project.world.file_path('hidden', WHEEL)}"
    write(project, f"acme @ {url}")
    locked(project)
    entry.content = wheel_bytes("changed")

    ended = install(project.path, venv, [])

    assert ended.returncode != 0
    assert "hash" in ended.stderr.lower()
    assert "acme" not in installed(venv)


@pytest.mark.parametrize("spelling", ["./wheels/{}", "wheels/{}", "file:wheels/{}"])
def test_a_wheel_below_the_project(
    spelling: str, install: Install, project: Project, venv: Path, tmp_path: Path
) -> None:
    """It is named by its path from the lock, so that both move together."""
    put_wheel(project.root / "wheels")
    write(project, f"acme @ {spelling.format(WHEEL)}")

    entry = locked(project)["acme"]
    assert (entry["version"], entry["archive"]["path"]) == ("1.0", f"wheels/{WHEEL}")
    assert "url" not in entry["archive"]
    assert "index" not in entry
    assert str(tmp_path) not in project.path.read_text("utf-8")

    moved = tmp_path / "far" / "moved"
    shutil.move(project.root, moved)
    ended = install(moved / "pylock.toml", venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.0", "common": "1.5"}
    assert "'own'" in marker_of(venv)


def test_a_wheel_by_its_whole_file_address(
    install: Install, project: Project, venv: Path, tmp_path: Path
) -> None:
    path = put_wheel(project.root / "wheels")
    write(project, f"acme @ {path.as_uri()}")

    assert locked(project)["acme"]["archive"]["path"] == f"wheels/{WHEEL}"
    assert str(tmp_path) not in project.path.read_text("utf-8")

    ended = install(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.0", "common": "1.5"}


def test_a_path_with_blanks_and_signs(install: Install, project: Project, venv: Path) -> None:
    """In a lock a path is a path: nothing in it is quoted."""
    path = put_wheel(project.root / "my wheels+more")
    write(project, f"acme @ {path.as_uri()}")

    assert locked(project)["acme"]["archive"]["path"] == f"my wheels+more/{WHEEL}"

    ended = install(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.0", "common": "1.5"}


def test_paths_beside_the_project(uv_way: Install, project: Project, venv: Path) -> None:
    """A path that is written relative to the project stays so: no place of this machine is told.

    What lies beside it in a common checkout is found again on another machine.
    """
    beside = project.root.parent
    put_tree(beside / "acme")
    filename = "far-1.0-py3-none-any.whl"
    (beside / filename).write_bytes(build_wheel(filename, metadata_text("far", "1.0")))
    write(project, "acme @ ../acme", f"far @ ../{filename}")

    found = locked(project)
    assert found["acme"]["directory"] == {"path": "../acme"}
    assert found["far"]["archive"]["path"] == f"../{filename}"
    assert str(beside) not in project.path.read_text("utf-8")

    ended = uv_way(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.5", "common": "1.5", "far": "1.0"}


def test_a_wheel_on_the_command_line(install: Install, project: Project, venv: Path) -> None:
    path = put_wheel(project.root / "wheels")

    assert locked(project, f"acme @ {path.as_uri()}")["acme"]["archive"]["path"] == (
        f"wheels/{WHEEL}"
    )

    ended = install(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.0", "common": "1.5"}


def test_a_directory(uv_way: Install, project: Project, venv: Path) -> None:
    """It is built when it is installed; the lock says no version and no hash."""
    put_tree(project.root / "libs" / "acme")
    write(project, "acme @ ./libs/acme")

    assert locked(project)["acme"] == {
        "name": "acme",
        "dependencies": [{"name": "common"}],
        "directory": {"path": "libs/acme"},
    }

    ended = uv_way(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.5", "common": "1.5"}
    assert "'tree'" in marker_of(venv)


def test_an_editable_directory(uv_way: Install, project: Project, venv: Path) -> None:
    tree = put_tree(project.root / "libs" / "acme")

    assert locked(project, "-e", str(tree))["acme"]["directory"] == {
        "path": "libs/acme",
        "editable": True,
    }

    ended = uv_way(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.5", "common": "1.5"}
    # Nothing was copied: the environment points at the directory.
    assert not (site_packages(venv) / "acme").exists()
    (info,) = site_packages(venv).glob("acme-*.dist-info")
    direct = json.loads((info / "direct_url.json").read_text("utf-8"))
    assert direct["dir_info"] == {"editable": True}
    assert Path(unquote(urlsplit(direct["url"]).path)) == tree


def test_a_directory_without_a_stated_version(
    uv_way: Install, project: Project, venv: Path
) -> None:
    """As setuptools-scm and hatch-vcs have it: the build will say."""
    put_tree(project.root / "libs" / "acme", 'dynamic = ["version"]')
    write(project, "acme @ ./libs/acme")

    assert "version" not in locked(project)["acme"]

    ended = uv_way(project.path, venv, [])
    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.5", "common": "1.5"}


def test_pip_refuses_a_directory_beside_files(
    pip_install: Install, project: Project, venv: Path
) -> None:
    """A hash of any entry makes it ask for one of all, and a directory has none."""
    put_tree(project.root / "libs" / "acme")
    write(project, "acme @ ./libs/acme")
    locked(project)

    ended = pip_install(project.path, venv, [])

    assert ended.returncode != 0
    assert "hashes" in ended.stderr
    assert "directories" in ended.stderr
    assert installed(venv) == {}


def test_pip_installs_a_directory_alone(pip_install: Install, project: Project, venv: Path) -> None:
    tree = put_tree(project.root / "libs" / "acme")
    for name in ("backend.py", "pyproject.toml"):
        text = (tree / name).read_text("utf-8")
        text = text.replace("Requires-Dist: common\\n", "").replace('["common"]', "[]")
        (tree / name).write_text(text, "utf-8")
    write(project, "acme @ ./libs/acme")
    assert set(locked(project)) == {"acme"}

    ended = pip_install(project.path, venv, [])

    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"acme": "1.5"}


def test_a_second_run_is_current(project: Project) -> None:
    """What is made of a direct reference is what the next run finds in the lock."""
    put_wheel(project.root / "wheels")
    put_tree(project.root / "libs" / "tool")
    url = f"{project.world.base}{project.world.file_path('hidden', 'far-2.0-py3-none-any.whl')}"
    project.world.add("hidden", "far-2.0-py3-none-any.whl")
    write(project, f"acme @ ./wheels/{WHEEL}", f"far @ {url}")
    locked(project)
    before = project.path.read_bytes()
    rows = {"matrix": f"{HOST}-cpu,win-cpu", "python": PYTHON}

    checked = project.lock("--check", **rows)
    assert checked.status == 0, checked.out + checked.err
    assert project.lock(**rows).status == 0
    assert project.path.read_bytes() == before
    assert project.lock("--upgrade", **rows).status == 0
    assert project.path.read_bytes() == before


def test_another_reference_makes_the_lock_anew(project: Project) -> None:
    put_wheel(project.root / "wheels")
    put_wheel(project.root / "other")
    write(project, f"acme @ ./wheels/{WHEEL}")
    locked(project)

    write(project, f"acme @ ./other/{WHEEL}")
    assert project.lock("--check", matrix=f"{HOST}-cpu,win-cpu", python=PYTHON).status == 1
    assert locked(project)["acme"]["archive"]["path"] == f"other/{WHEEL}"


def test_a_wheel_that_was_built_anew(project: Project) -> None:
    """A file of this machine is looked at: the lock has the hash of what is there now."""
    path = put_wheel(project.root / "wheels")
    write(project, f"acme @ ./wheels/{WHEEL}")
    old = locked(project)["acme"]["archive"]["hashes"]["sha256"]
    path.write_bytes(wheel_bytes("rebuilt"))

    new = locked(project)["acme"]["archive"]["hashes"]["sha256"]
    assert new != old


def test_a_local_wheel_whose_hash_is_not_the_stated_one(project: Project) -> None:
    """The file is here to be looked at, and the lock could be installed nowhere."""
    put_wheel(project.root / "wheels")
    write(project, f"acme @ ./wheels/{WHEEL}#sha256={'0' * 64}")

    ended = project.lock(matrix=f"{HOST}-cpu", python=PYTHON)

    assert ended.status != 0
    assert WHEEL in ended.err


def test_nothing_of_a_directory_is_run(project: Project) -> None:
    """Its requirements are read; what only a build would tell ends the lock."""
    tree = put_tree(project.root / "libs" / "acme", 'version = "1.5"\ndynamic = ["scripts"]')
    (tree / "backend.py").write_text("raise SystemExit('a build was started')\n", "utf-8")
    (tree / "setup.py").write_text("raise SystemExit('a build was started')\n", "utf-8")
    write(project, "acme @ ./libs/acme")
    assert set(locked(project)) == {"acme", "common"}

    pyproject = (tree / "pyproject.toml").read_text("utf-8")
    (tree / "pyproject.toml").write_text(
        pyproject.replace('dependencies = ["common"]', "").replace('"scripts"', '"dependencies"'),
        "utf-8",
    )
    ended = project.lock("--upgrade", matrix=f"{HOST}-cpu", python=PYTHON)
    assert ended.status != 0
    assert "Traceback" not in ended.err
    assert "dependencies" in ended.err
    assert "libs/acme" in ended.err


def test_an_sdist_below_the_project(project: Project) -> None:
    """As an archive, with its hash; static metadata is read and no build runs."""
    folder = project.root / "dist"
    folder.mkdir()
    (folder / "acme-1.0.tar.gz").write_bytes(
        build_sdist("acme-1.0.tar.gz", metadata_text("acme", "1.0", ["common"]))
    )
    write(project, "acme @ ./dist/acme-1.0.tar.gz")

    found = locked(project)
    assert set(found) == {"acme", "common"}
    assert found["acme"]["archive"]["path"] == "dist/acme-1.0.tar.gz"
    assert "sdist" not in found["acme"]


def test_a_wheel_for_another_platform(project: Project) -> None:
    """The row that cannot install it fails, and is told why."""
    filename = "acme-1.0-cp311-cp311-win_arm64.whl"
    project.world.add("hidden", filename)
    url = f"{project.world.base}{project.world.file_path('hidden', filename)}"
    write(project, f"acme @ {url}")

    message = project.refused(4, matrix=f"{HOST}-cpu", python=PYTHON)

    assert "acme" in message
    assert "win_arm64" in message


def test_a_wheel_for_some_rows(project: Project) -> None:
    """A marker says which; the others have what the index has."""
    put_wheel(project.root / "wheels")
    write(project, f"acme @ ./wheels/{WHEEL} ; sys_platform == 'win32'", "acme")

    lock = project.locked(matrix=f"{HOST}-cpu,win-cpu", python=PYTHON)

    found = {
        package["version"]: (package["marker"], "archive" in package)
        for package in lock["packages"]
        if package["name"] == "acme"
    }
    assert found == {
        "1.0": ("sys_platform == 'win32'", True),
        "9.0": ("sys_platform == 'linux'", False),
    }


def test_an_address_where_nothing_is(project: Project) -> None:
    """It is the project's own address that is wrong, and no index that lists it."""
    url = f"{project.world.base}/nowhere/{WHEEL}"
    write(project, f"acme @ {url}")

    message = project.refused(5, matrix=f"{HOST}-cpu", python=PYTHON)

    assert url in message
    assert "lists this file" not in message


def test_credentials_and_query_are_not_written(project: Project) -> None:
    project.world.add("hidden", WHEEL, requires=["common"])
    place = project.world.file_path("hidden", WHEEL)
    host = project.world.base.removeprefix("http://")
    write(project, f"acme @ http://user:secret@{host}{place}")

    locked(project)

    text = project.path.read_text("utf-8")
    assert "secret" not in text
    assert "user" not in text
    assert f'url = "http://{host}{place}"' in text


def test_a_query_is_in_no_file(project: Project) -> None:
    """It may be a secret: neither the lock nor a stamp repeats it, and the user is told."""
    project.world.add("hidden", WHEEL)
    place = project.world.file_path("hidden", WHEEL)
    content = project.world.entry("hidden", WHEEL).content
    project.world.answers[f"{place}?token=secret"] = Answer(body=content)
    reference = f"acme @ {project.world.base}{place}?token=secret"

    ended = project.lock(reference, matrix=f"{HOST}-cpu", python=PYTHON)

    assert ended.status == 0, ended.err
    assert f"the lock holds {project.world.base}{place} without its query" in ended.err
    files = [path for path in project.root.parent.rglob("*") if path.is_file()]
    assert project.path in files
    assert [path for path in files if b"secret" in path.read_bytes()] == []


def test_references_that_only_a_query_tells_apart(project: Project) -> None:
    """In the lock they would be one address with two hashes."""
    url = f"{project.world.base}/{WHEEL}"
    project.write(
        f"""
        [project]
        name = "demo"
        version = "1"
        [tool.lockforge.rows.linux-cpu]
        dependencies = ["acme @ {url}?v=1"]
        [tool.lockforge.rows.linux-cu130]
        dependencies = ["acme @ {url}?v=2"]
        """
    )

    message = project.refused(2, matrix="linux-cpu,linux-cu130", python=PYTHON)

    assert f"{url} has another query than in tool.lockforge.rows." in message
