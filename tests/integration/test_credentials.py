"""Private indexes and mirrors: what opens them, whom it is sent to, and where it never stands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from lockforge.adapters import stamp
from tests.integration.conftest import Project
from tests.support.command import Ended
from tests.support.guarded import GuardedWorld, basic, secrets_in
from tests.support.world import Answer, serve

TORCH = "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
COMMON = "common-1.5-py3-none-any.whl"
USER, PASSWORD = "some@one", "p@ss/w:rd%41 ß"
USER_INFO = f"{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@"
HEADER = basic(USER, PASSWORD)
FORMS = (PASSWORD, quote(PASSWORD, safe=""), quote(PASSWORD), HEADER.split()[1])
"""Every way the password is written."""
ROOT = Path(__file__).parents[2]


@pytest.fixture
def world() -> Iterator[GuardedWorld]:
    """A torch and what it needs, on indexes that open for one user."""
    guarded = GuardedWorld()
    with serve(guarded):
        guarded.add("cpu", TORCH, requires=["common"])
        guarded.add("pypi", COMMON)
        guarded.doors["/"] = (USER, PASSWORD)
        yield guarded


@pytest.fixture
def other() -> Iterator[GuardedWorld]:
    """Another origin: the same host, and another port."""
    guarded = GuardedWorld()
    with serve(guarded):
        yield guarded


def private(url: str, user_info: str = USER_INFO) -> str:
    """Put credentials into an address."""
    return url.replace("//", f"//{user_info}", 1)


def configure(project: Project, text: str) -> None:
    """Write a project that needs torch from the world's indexes, with more configuration."""
    project.write(
        '[project]\nname = "mine"\nversion = "1"\nrequires-python = ">=3.12"\n'
        'dependencies = ["torch"]\n'
        f'[tool.lockforge]\nmatrix = ["linux-cpu"]\npython = ["3.12"]\n{text}'
    )


def indexes(world: GuardedWorld, *, name: str = "mirror", user_info: str = "") -> str:
    """Configure the world's indexes."""
    base = world.base.replace("//", f"//{user_info}")
    return (
        f'torch-index = "{base}/whl"\n[[tool.lockforge.index]]\nname = "{name}"\n'
        f'url = "{base}/simple/"\ndefault = true\n'
    )


def set_variables(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setenv(f"{name}_USERNAME", USER)
        monkeypatch.setenv(f"{name}_PASSWORD", PASSWORD)


def write_netrc(text: str) -> None:
    Path(os.environ["NETRC"]).write_text(text, "utf-8")


def well(ended: Ended, project: Project) -> None:
    """Demand a lock, and the password nowhere: not in it, the output, or any file of the cache."""
    assert ended.status == 0, ended.err
    for form in FORMS:
        assert form not in ended.out + ended.err
    assert not any(form in project.path.read_text("utf-8") for form in FORMS)
    assert secrets_in(Path(os.environ["LOCKFORGE_CACHE_DIR"]), *FORMS) == []


# --- where they come from --------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--verbose",)])
def test_in_the_address(options: tuple[str, ...], project: Project, world: GuardedWorld) -> None:
    """Options of the command line are no less private than a file."""
    ended = project.run(
        *("torch", "--matrix", "linux-cpu", "--python", "3.12", *options),
        *("--index-url", private(world.default_url), "--torch-index", private(world.torch_url)),
    )

    well(ended, project)
    assert world.sent() == {HEADER}


def test_in_the_file(project: Project, world: GuardedWorld) -> None:
    """The stamp that makes a second run short would repeat the file; there is none."""
    configure(project, indexes(world, user_info=USER_INFO))

    well(project.run(), project)

    well(project.run(), project)
    assert stamp.recall(["lock", "--project", str(project.root)]) is None


def test_in_a_requirements_file(
    project: Project, world: GuardedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip reads it; a variable's value is written as in an address."""
    monkeypatch.setenv("ACME_USER", quote(USER))
    monkeypatch.setenv("ACME_PASSWORD", quote(PASSWORD, safe=""))
    url = world.default_url.replace("//", "//${ACME_USER}:${ACME_PASSWORD}@")
    file = project.write(f"--index-url {url}\ntorch\n", "requirements.txt")

    ended = project.run(
        *("-r", file, "--matrix", "linux-cpu", "--python", "3.12"),
        *("--torch-index", private(world.torch_url)),
    )

    well(ended, project)


def test_in_a_variable_that_the_address_names(
    project: Project, world: GuardedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the variable holds decides nothing, so a second run may be short."""
    monkeypatch.setenv("ACME_TOKEN", f"{quote(USER)}:{quote(PASSWORD, safe='')}")
    configure(project, indexes(world, user_info="${ACME_TOKEN}@"))

    well(project.run(), project)

    assert stamp.recall(["lock", "--project", str(project.root)]) is not None
    assert "ACME_TOKEN" not in project.path.read_text("utf-8")


def test_a_variable_that_is_not_set_is_named(project: Project, world: GuardedWorld) -> None:
    configure(project, f'torch-index = "{private(world.torch_url, "${ACME_NONE}@")}"\n')

    message = project.run_refused(2)

    assert "tool.lockforge.torch-index: the environment variable ACME_NONE is not set" in message


@pytest.mark.parametrize(
    "names",
    [
        ("LOCKFORGE_INDEX_MIRROR", "LOCKFORGE_INDEX_TORCH"),
        ("LOCKFORGE_INDEX_DEFAULT", "LOCKFORGE_INDEX_TORCH"),
        ("UV_INDEX_MIRROR", "UV_INDEX_TORCH"),
    ],
)
def test_in_variables_of_an_index(
    names: tuple[str, ...], project: Project, world: GuardedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(project, indexes(world))
    set_variables(monkeypatch, *names)

    well(project.run(), project)

    assert world.sent() == {HEADER}
    # The stamp is there, and is one of the files without the password.
    assert stamp.recall(["lock", "--project", str(project.root)]) is not None


def test_in_netrc(project: Project, world: GuardedWorld) -> None:
    configure(project, indexes(world))
    world.doors["/"] = ("someone", "s3cret")
    write_netrc("machine 127.0.0.1 login someone password s3cret\n")

    ended = project.run()

    assert ended.status == 0, ended.err
    assert world.sent() == {basic("someone", "s3cret")}
    assert secrets_in(Path(os.environ["LOCKFORGE_CACHE_DIR"]), "s3cret") == []


# --- whom they are sent to -------------------------------------------------------------------


@pytest.mark.parametrize("source", ["url", "variables", "netrc"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_origin_takes_none(
    source: str,
    status: int,
    project: Project,
    world: GuardedWorld,
    other: GuardedWorld,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other origin is served without, and cannot ask for what is not its own."""
    world.doors["/"] = ("someone", "s3cret")
    other.add("pypi", COMMON)
    path = other.page_path("pypi", "common")
    moved = Answer(status=status, headers={"Location": f"{other.base}{path}"})
    world.answers[path] = moved
    if source == "variables":
        for name in ("MIRROR", "TORCH"):
            monkeypatch.setenv(f"LOCKFORGE_INDEX_{name}_USERNAME", "someone")
            monkeypatch.setenv(f"LOCKFORGE_INDEX_{name}_PASSWORD", "s3cret")
    if source == "netrc":
        write_netrc("machine 127.0.0.1 login someone password s3cret\n")
    user_info = "someone:s3cret@" if source == "url" else ""
    configure(project, indexes(world, user_info=user_info))

    ended = project.run()

    assert ended.status == 0, ended.err
    assert world.sent() == {basic("someone", "s3cret")}
    assert other.sent() == {None}


def test_a_redirect_back_takes_them_again(
    project: Project, world: GuardedWorld, other: GuardedWorld
) -> None:
    """Each step has what its own origin owns."""
    path = world.page_path("pypi", "common")
    world.answers["/simple-moved/common/"] = world.inside(path)
    other.answers[path] = Answer(
        status=302, headers={"Location": f"{world.base}/simple-moved/common/"}
    )
    world.answers[path] = Answer(status=302, headers={"Location": f"{other.base}{path}"})
    configure(project, indexes(world, user_info=USER_INFO))

    well(project.run(), project)

    assert world.sent() == {HEADER}
    assert other.sent() == {None}


def test_another_origin_has_its_own(
    project: Project, world: GuardedWorld, other: GuardedWorld
) -> None:
    """A link and a redirect to an origin of another index get that index's credentials."""
    other.add("pypi", "acme-1.0-py3-none-any.whl")
    other.doors["/"] = ("acme", "other-s3cret")
    other.add("pypi", COMMON)
    world.entry("pypi", COMMON).href = f"{other.base}{other.file_path('pypi', COMMON)}"
    world.entry("pypi", COMMON).hashed = False
    configure(
        project,
        indexes(world, user_info=USER_INFO)
        + f'[[tool.lockforge.index]]\nurl = "{private(other.default_url, "acme:other-s3cret@")}"\n'
        'packages = ["acme"]\n',
    )

    well(project.run(), project)

    assert world.sent() == {HEADER}
    assert other.sent() == {basic("acme", "other-s3cret")}


def test_two_indexes_of_one_origin(project: Project, world: GuardedWorld) -> None:
    """Each has its own credentials: the longest path that fits decides."""
    page = '<a href="/{0}/files/{0}-1.0-py3-none-any.whl">{0}-1.0-py3-none-any.whl</a>'
    text = indexes(world, user_info=USER_INFO)
    for name in ("alpha", "beta"):
        entry = world.add("pypi", f"{name}-1.0-py3-none-any.whl")
        world.answers[f"/{name}/simple/{name}/"] = Answer(body=page.format(name).encode())
        world.answers[f"/{name}/files/{name}-1.0-py3-none-any.whl"] = Answer(
            body=entry.content, content_type="application/octet-stream"
        )
        world.doors[f"/{name}/"] = (name, f"{name}-s3cret")
        url = private(f"{world.base}/{name}/simple/", f"{name}:{name}-s3cret@")
        text += f'[[tool.lockforge.index]]\nname="{name}"\nurl="{url}"\npackages=["{name}"]\n'
    configure(project, text)

    well(project.run("torch", "alpha", "beta"), project)

    assert world.sent("/alpha/") == {basic("alpha", "alpha-s3cret")}
    assert world.sent("/beta/") == {basic("beta", "beta-s3cret")}
    assert world.sent("/simple/common/") == {HEADER}


def test_a_link_may_have_its_own(
    project: Project, world: GuardedWorld, other: GuardedWorld
) -> None:
    """What a page states for a file is for that file's origin, and not for the lock."""
    other.doors["/"] = ("link", "link-s3cret")
    other.add("pypi", COMMON)
    url = f"{other.base}{other.file_path('pypi', COMMON)}"
    entry = world.entry("pypi", COMMON)
    entry.href, entry.hashed = private(url, "link:link-s3cret@"), False
    configure(project, indexes(world, user_info=USER_INFO))

    ended = project.run()

    assert ended.status == 0, ended.err
    assert other.sent() == {basic("link", "link-s3cret")}
    assert "s3cret" not in project.path.read_text("utf-8") + ended.out + ended.err


def test_a_page_that_repeats_them_is_not_kept(project: Project, world: GuardedWorld) -> None:
    """Some servers write the address they were asked by into their links."""
    path = world.page_path("pypi", "common")
    url = private(f"{world.base}{world.file_path('pypi', COMMON)}")
    world.answers[path] = Answer(body=f'<a href="{url}">{COMMON}</a>'.encode())
    configure(project, indexes(world, user_info=USER_INFO))

    well(project.run(), project)


# --- refusals --------------------------------------------------------------------------------


def test_a_refusal_says_what_can_be_done(project: Project, world: GuardedWorld) -> None:
    configure(project, indexes(world, name="acme-mirror"))
    write_netrc("machine elsewhere.example login someone\nmachine 127.0.0.1 s3cret word\n")
    world.doors = {"/simple/": (USER, PASSWORD)}

    message = project.ends(5, project.run)

    assert f"{world.default_url} answers 401 and no credentials are known" in message
    assert f"in {world.default_url}common/" in message
    assert (
        "LOCKFORGE_INDEX_ACME_MIRROR_USERNAME and LOCKFORGE_INDEX_ACME_MIRROR_PASSWORD" in message
    )
    assert "cannot be read near line 2" in message
    assert "s3cret" not in message


def test_a_pytorch_mirror_that_asks_for_credentials_has_the_project(
    project: Project, world: GuardedWorld
) -> None:
    """A 401 is never "no such project", whatever a 403 is."""
    configure(project, indexes(world))
    world.doors = {"/whl/": (USER, PASSWORD)}

    message = project.ends(5, project.run)

    assert f"{world.torch_url} answers 401 and no credentials are known" in message
    assert "LOCKFORGE_INDEX_TORCH_USERNAME and LOCKFORGE_INDEX_TORCH_PASSWORD" in message


def test_refused_credentials_are_named_by_their_place(
    project: Project, world: GuardedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(project, indexes(world))
    set_variables(monkeypatch, "UV_INDEX_MIRROR", "LOCKFORGE_INDEX_TORCH")
    world.doors = {"/simple/": ("another", "word")}

    message = project.ends(5, project.run)

    assert (
        "to the credentials from UV_INDEX_MIRROR_USERNAME and UV_INDEX_MIRROR_PASSWORD" in message
    )
    assert not any(form in message for form in (*FORMS, USER))


def test_an_origin_beside_an_index_is_told_from_it(
    project: Project, world: GuardedWorld, other: GuardedWorld
) -> None:
    path = world.page_path("pypi", "common")
    world.answers[path] = Answer(status=302, headers={"Location": f"{other.base}{path}"})
    other.doors["/"] = (USER, PASSWORD)
    configure(project, indexes(world, user_info=USER_INFO))

    message = project.ends(5, project.run)

    assert f"{other.base} answers 401 and no credentials are known" in message
    assert "credentials of others are not for it" in message
    assert other.sent() == {None}


@pytest.mark.parametrize("kind", ["table", "option"])
def test_a_mistake_in_an_address_is_shown_without_credentials(
    kind: str, project: Project, world: GuardedWorld
) -> None:
    url = "https://someone:s3/cret@acme.example/simple/"
    configure(project, f'[[tool.lockforge.index]]\nurl = "{url}"\n' if kind == "table" else "")

    message = project.run_refused(2, *(("--index-url", url) if kind == "option" else ()))

    assert "not an address: 'https://***@acme.example/simple/'" in message
    assert "cret" not in message


# --- keyring ---------------------------------------------------------------------------------


@pytest.fixture
def keyring(tmp_path: Path) -> Path:
    """A folder with what a keyring holds; ``asked`` there says what it was asked for."""
    pytest.importorskip("keyring", reason="keyring is not installed")
    folder = tmp_path / "keyring"
    folder.mkdir()
    (folder / "held").write_text("{}")
    (folder / "asked").touch()
    return folder


def run_with_keyring(project: Project, folder: Path, *, path: Path = ROOT) -> Ended:
    """Run in a process of its own: keyring chooses its backend once in each."""
    environment = {
        **os.environ,
        "PYTHON_KEYRING_BACKEND": "tests.support.keyring_backend.FileKeyring",
        "PYTHONPATH": str(path),
        "TEST_KEYRING": str(folder),
    }
    command = [sys.executable, "-m", "lockforge", "lock", "--project", str(project.root)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return Ended(status=ended.returncode, out=ended.stdout, err=ended.stderr)


def hold(folder: Path, **logins: tuple[str, str]) -> None:
    (folder / "held").write_text(json.dumps(logins))


def test_a_keyring_is_asked_by_address_then_by_host(
    project: Project, world: GuardedWorld, keyring: Path
) -> None:
    """Each entry is asked for once, however many pages are refused."""
    for number in range(8):
        world.add("pypi", f"more{number}-1.0-py3-none-any.whl")
    needs = ", ".join(f'"more{number}"' for number in range(8))
    configure(project, indexes(world))
    project.write(
        (project.root / "pyproject.toml").read_text().replace('"torch"', f'"torch", {needs}')
    )
    host = world.base.removeprefix("http://")
    hold(keyring, **{host: (USER, PASSWORD)})

    well(run_with_keyring(project, keyring), project)

    asked = (keyring / "asked").read_text().splitlines()
    assert sorted(asked) == sorted({f"{world.torch_url} ", f"{world.default_url} ", f"{host} "})
    assert world.sent() == {None, HEADER}


def test_a_keyring_holds_an_address(project: Project, world: GuardedWorld, keyring: Path) -> None:
    configure(project, indexes(world))
    world.doors = {"/simple/": (USER, PASSWORD)}
    hold(keyring, **{world.default_url: (USER, PASSWORD)})

    well(run_with_keyring(project, keyring), project)

    assert (keyring / "asked").read_text() == f"{world.default_url} \n"


def test_a_keyring_is_asked_for_the_user_of_the_address(
    project: Project, world: GuardedWorld, keyring: Path
) -> None:
    configure(project, indexes(world, user_info="someone@"))
    world.doors = {"/simple/": ("someone", PASSWORD)}
    hold(keyring, **{world.default_url: ("someone", PASSWORD)})

    ended = run_with_keyring(project, keyring)

    assert ended.status == 0, ended.err
    assert (keyring / "asked").read_text() == f"{world.default_url} someone\n"


def test_a_keyring_is_left_alone_where_nobody_refuses(
    project: Project, world: GuardedWorld, keyring: Path
) -> None:
    configure(project, indexes(world))
    world.doors = {}

    ended = run_with_keyring(project, keyring)

    assert ended.status == 0, ended.err
    assert (keyring / "asked").read_text() == ""


def test_a_keyring_that_fails_is_named(
    project: Project, world: GuardedWorld, keyring: Path
) -> None:
    configure(project, indexes(world))
    (keyring / "held").write_text("no JSON")

    ended = run_with_keyring(project, keyring)

    assert ended.status == 5
    assert "in the keyring (which failed now: JSONDecodeError)" in ended.err
    assert "Traceback" not in ended.err


def test_a_keyring_that_is_not_installed_is_named(
    project: Project, world: GuardedWorld, keyring: Path, tmp_path: Path
) -> None:
    """Whoever wants one is told how to get it."""
    absent = tmp_path / "absent"
    absent.mkdir()
    (absent / "keyring.py").write_text('raise ModuleNotFoundError("No module named keyring")\n')
    configure(project, indexes(world))

    ended = run_with_keyring(project, keyring, path=absent)

    assert ended.status == 5
    assert "in the keyring (which needs `pip install 'lockforge[keyring]'`)" in ended.err


# --- mirrors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", [None, "nightly"])
@pytest.mark.parametrize("base", ["/whl", "/whl/", "/mirrors/pytorch/whl//"])
def test_the_base_of_a_mirror(
    base: str, channel: str | None, project: Project, world: GuardedWorld
) -> None:
    """A base may have credentials, a path, and any slash at its end; a channel is below it."""
    folder = "/".join([base.rstrip("/"), *([channel] if channel else []), "cpu"])
    wheel = world.inside(world.file_path("cpu", TORCH))
    world.answers[f"{folder}/torch/"] = Answer(
        body=f'<a href="../{quote(TORCH)}">{TORCH}</a>'.encode()
    )
    world.answers[f"{folder}/{quote(TORCH)}"] = wheel

    ended = project.run(
        *("torch", "--matrix", "linux-cpu", "--python", "3.12"),
        *("--index-url", private(world.default_url)),
        *("--torch-index", private(f"{world.base}{base}")),
        *(("--channel", channel) if channel else ()),
    )

    well(ended, project)
    assert locked_torch(project)["index"] == f"{world.base}{folder}"


def locked_torch(project: Project) -> dict[str, Any]:
    packages = tomllib.loads(project.path.read_text("utf-8"))["packages"]
    (found,) = (one for one in packages if one["name"] == "torch")
    return dict(found)


@pytest.mark.parametrize("written", ["address", "path", "relative path", "option"])
def test_a_directory_as_a_mirror(written: str, project: Project, world: GuardedWorld) -> None:
    """Both indexes may be copies in directories; their place on this machine is in no lock."""
    mirror = project.root / "mirror"
    for folder, name, wheel in (("whl/cpu", "torch", TORCH), ("simple", "common", COMMON)):
        page = mirror / folder / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(f'<a href="{quote(wheel)}">{wheel}</a>', "utf-8")
        (page.parent / wheel).write_bytes(
            world.entry("cpu" if name == "torch" else "pypi", wheel).content
        )
    place = {
        "address": mirror.as_uri(),
        "path": str(mirror),
        "relative path": "mirror",
        "option": "",
    }[written]
    options: tuple[str, ...] = ()
    if place:
        configure(
            project,
            f'torch-index = "{place}/whl"\n[[tool.lockforge.index]]\n'
            f'url = "{place}/simple"\ndefault = true\n',
        )
    else:
        configure(project, "")
        options = ("--torch-index", f"{mirror}/whl/", "--index-url", f"{mirror}/simple")

    ended = project.run(*options)

    assert ended.status == 0, ended.err
    text = project.path.read_text("utf-8")
    assert "file:" not in text
    assert str(project.root) not in text
    assert locked_torch(project)["wheels"][0]["path"] == f"mirror/whl/cpu/torch/{TORCH}"
    assert world.requests == []
    assert project.run("--check", *options).status == 0
