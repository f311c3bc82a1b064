"""What opens an index: from its address, the environment, netrc and the keyring.

Each is sent to the origin (RFC 6454) that it belongs to and to no other. An address and a variable
belong to the origin of an index. netrc and the keyring name hosts: theirs go to the indexes on
the host, and to a host without an index over HTTPS alone.
"""

from __future__ import annotations

import base64
import netrc
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from lockforge.model.access import variable_part
from lockforge.standards.addresses import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lockforge.model.access import IndexAccess

_FORBIDDEN = 403
# uv's own are what people have set already.
_PREFIXES = ("LOCKFORGE_INDEX_", "UV_INDEX_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A user, a password, and where they come from."""

    user: str
    password: str = field(repr=False)
    source: str

    @property
    def header(self) -> str:
        """What the Authorization header says (RFC 7617)."""
        return f"Basic {base64.b64encode(f'{self.user}:{self.password}'.encode()).decode()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Netrc:
    """Logins by host, as far as the file could be read."""

    name: str
    """What the user calls the file."""
    logins: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    fault: str | None = None

    def login(self, host: str) -> Login | None:
        """Give what the file has for *host* by name.

        Its ``default`` entry belongs to no host, so it is not used.
        """
        found = self.logins.get(host)
        return None if found is None else Login(user=found[0], password=found[1], source=self.name)


def read_netrc(environment: Mapping[str, str]) -> Netrc:
    """Read ``$NETRC``, else the file in the home directory; a broken one has no logins."""
    name = environment.get("NETRC") or ("~/_netrc" if sys.platform == "win32" else "~/.netrc")
    try:
        hosts = netrc.netrc(os.path.expanduser(name)).hosts  # noqa: PTH111 no home, no error
    except FileNotFoundError:
        return Netrc(name=name)
    except netrc.NetrcParseError as error:
        # What the parser says may quote a password.
        return Netrc(name=name, fault=f"{name} cannot be read near line {error.lineno}")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        return Netrc(name=name, fault=f"{name} cannot be read: {reason}")
    logins = {host.lower(): (entry[0], entry[2]) for host, entry in hosts.items()}
    logins.pop("default", None)
    return Netrc(name=name, logins=logins)


@dataclass(slots=True, eq=False)
class _Place:
    """An index, or an origin that files come from."""

    url: str
    origin: str
    names: tuple[str, ...] = ()
    user: str | None = None
    login: Login | None = None
    services: tuple[str, ...] = ()
    """What the keyring may know it by, the closest first."""
    asked: bool = False

    def common(self, url: str) -> int:
        """Count the leading parts of the path that *url* has too."""
        count = 0
        for mine, other in zip(_path(self.url), _path(url), strict=False):
            if mine != other:
                break
            count += 1
        return count


class Keychain:
    """The credentials of one run; safe to use from several threads."""

    def __init__(
        self, accesses: Iterable[IndexAccess], environment: Mapping[str, str], netrc: Netrc
    ) -> None:
        self._netrc = netrc
        self._elsewhere: dict[str, _Place] = {}
        self._answers: dict[tuple[str, str | None], Login | None] = {}
        self._asking = threading.Lock()
        self._keyring_note = ""
        accesses = tuple(accesses)
        # Two may claim a name where the command line replaces the default index: it comes last.
        claims = {variable_part(name): one for one in accesses for name in one.names}
        self._places = [
            self._place(one, [part for part, owner in claims.items() if owner is one], environment)
            for one in accesses
        ]

    def _place(
        self, access: IndexAccess, parts: list[str], environment: Mapping[str, str]
    ) -> _Place:
        origin = origin_of(access.url)
        login = None
        if access.user is not None and access.password is not None:
            login = Login(user=access.user, password=access.password, source="its url")
        login = login or _from_environment(access.user, parts, environment)
        if login is None:
            known = self._netrc.login(_host(origin))
            login = known if known and access.user in {None, known.user} else None
        if login is None and access.user is not None:
            # A token often stands alone in the place of the user.
            login = Login(user=access.user, password="", source="its url")
        return _Place(
            url=access.url,
            origin=origin,
            names=tuple(sorted(parts, key=[variable_part(name) for name in access.names].index)),
            user=access.user or (login.user if login else None),
            login=login,
            services=(access.url, urlsplit(origin).netloc),
        )

    def header(self, url: str) -> str | None:
        """Give the Authorization header for a request, None for a request without one."""
        login = self._login(url)
        return login.header if login else None

    def is_repeated_in(self, body: bytes) -> bool:
        """Whether an answer holds a secret that opened it, so that it is not to be kept."""
        logins = [place.login for place in (*self._places, *self._elsewhere.values())]
        # A token may stand alone in the place of the user.
        secrets = {login.password or login.user for login in logins if login} - {""}
        return any(
            form.encode() in body
            for secret in secrets
            for form in (secret, quote(secret), quote(secret, safe=""))
        )

    def _near(self, url: str) -> list[_Place]:
        """List the places of an address's origin, the closest first (as pip matches them)."""
        origin = origin_of(url)
        places = [place for place in self._places if place.origin == origin]
        if not places:
            places = [self._elsewhere.setdefault(origin, self._place_elsewhere(origin))]
        return sorted(places, key=lambda place: (-place.common(url), place.login is None))

    def _place_elsewhere(self, origin: str) -> _Place:
        host = _host(origin)
        place = _Place(url=origin, origin=origin)
        indexed = any(_host(one.origin) == host for one in self._places)
        if origin.startswith("https:") and not indexed:
            place.login = self._netrc.login(host)
            place.services = (urlsplit(origin).netloc,)
        return place

    def _login(self, url: str) -> Login | None:
        return next((place.login for place in self._near(url) if place.login), None)

    def ask_keyring(self, url: str) -> None:
        """Look for a login in the keyring; each entry is asked for once."""
        place = self._near(url)[0]
        with self._asking:
            if place.asked:
                return
            place.asked = True
            for service in place.services:
                key = (service, place.user)
                if key not in self._answers:
                    self._answers[key] = self._ask(*key)
                if found := self._answers[key]:
                    place.login = found
                    return

    def _ask(self, service: str, user: str | None) -> Login | None:
        try:
            # Slow to import, optional, and wanted only where an index refuses.
            import keyring  # noqa: PLC0415

            found = keyring.get_credential(service, user)
        except ImportError:
            self._keyring_note = " (which needs `pip install 'lockforge[keyring]'`)"
        except Exception as error:  # noqa: BLE001 backends are programs of others
            self._keyring_note = f" (which failed now: {type(error).__name__})"
        else:
            if found is not None:
                return Login(user=found.username, password=found.password, source="the keyring")
        return None

    def refusal(self, url: str, status: int) -> tuple[str, str]:
        """Word a refusal: what happened, and what can be done."""
        place = self._near(url)[0]
        login = self._login(url)
        sent = (
            f"to the credentials from {login.source}" if login else "and no credentials are known"
        )
        message = f"{place.url} answers {status} {sent}"
        ways = []
        if place.names:
            name = f"{_PREFIXES[0]}{place.names[0]}"
            ways = ["in the url of the index", f"in {name}_USERNAME and {name}_PASSWORD"]
        if place.services:
            host = _host(place.origin)
            ways.append(f"for {host} in {self._netrc.name}")
            ways.append(f"for {place.services[0]} in the keyring{self._keyring_note}")
        if not ways:
            return message, "no index is at this address, and credentials of others are not for it"
        notes = [f"give credentials that it accepts {', '.join(ways[:-1])} or {ways[-1]}"]
        if status == _FORBIDDEN:
            notes.append("some servers answer 403 for what they do not have")
        if self._netrc.fault:
            notes.append(self._netrc.fault)
        return message, "; ".join(notes)


def _from_environment(
    user: str | None, parts: Iterable[str], environment: Mapping[str, str]
) -> Login | None:
    for prefix in _PREFIXES:
        for part in parts:
            name = environment.get(f"{prefix}{part}_USERNAME", "")
            password = environment.get(f"{prefix}{part}_PASSWORD", "")
            # A user in the address may get the password from here, but no other user's.
            if password and user is not None and name in {"", user}:
                name = user
            elif not (name or password) or user is not None:
                continue
            source = f"{prefix}{part}_USERNAME and {prefix}{part}_PASSWORD"
            return Login(user=name, password=password, source=source)
    return None


def _host(origin: str) -> str:
    return urlsplit(origin).hostname or ""


def _path(url: str) -> list[str]:
    return unquote(urlsplit(url).path).strip("/").split("/")
