"""OpenID Connect: a provider says who somebody is, in a token that it has signed.

begin     where to send the browser, and what to remember meanwhile
finished  the code that the browser brings back becomes a token, and the token a name

The authorization code flow with PKCE, state and nonce. Keys are asked for anew with every login, so that a
key which the provider has withdrawn is worth nothing here.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from gadcore.access.fetch import fetched
from gadcore.access.roles import Role
from gadcore.errors import GadError, NotAllowed, UsageError
from gadcore.settings import SingleSignOn, is_protected

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY = 60  # seconds that two clocks may differ
KNOWN_FOR = 600  # seconds for which the provider's own description is kept
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_FAR = 2**33  # a moment that every platform can date
_NOT_NOW = "Try again; if it stays so, tell whoever runs this server."


@dataclass(frozen=True)
class Attempt:
    """What a browser has to bring back to finish a login that it has begun."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Attempt:
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))

    @property
    def challenge(self) -> str:
        """The verifier as PKCE (S256) shows it beforehand."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass(frozen=True)
class Vouched:
    """Somebody whom the provider vouches for, until ``ends``; ``role`` is None where it is kept here."""

    name: str
    role: Role | None
    ends: datetime


class Provider:
    """One provider of OpenID Connect, as the settings name it."""

    def __init__(self, chosen: SingleSignOn) -> None:
        self._chosen = chosen
        self._roles = _roles(chosen)
        self._known: tuple[float, dict[str, Any]] | None = None

    def begin(self, attempt: Attempt, back: str) -> str:
        """The address at the provider to send the browser to; it comes back to ``back``."""
        asked = {
            "response_type": "code",
            "client_id": self._chosen.client,
            "redirect_uri": back,
            "scope": "openid profile email",
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        endpoint = str(self.described()["authorization_endpoint"])
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    def finished(self, attempt: Attempt, back: str, told: dict[str, str]) -> Vouched:
        """Who came back with ``told`` in the address; NotAllowed if anything does not fit the attempt."""
        if not hmac.compare_digest(told.get("state", "").encode(), attempt.state.encode()):
            raise NotAllowed("This login was not begun here, or is over. Begin it again.")
        if told.get("iss", self._chosen.issuer) != self._chosen.issuer:
            raise NotAllowed("Another provider has answered. Begin the login again.")
        if "code" not in told:
            raise NotAllowed("The provider did not log you in. Begin the login again.")
        return self._vouched(self._claims(self._token(attempt, back, told["code"]), attempt.nonce))

    def described(self) -> dict[str, Any]:
        """What the provider says of itself; GadError if it does not answer or cannot be used."""
        if self._known is None or time.monotonic() - self._known[0] > KNOWN_FOR:
            self._known = time.monotonic(), self._discovered()
        return self._known[1]

    def _discovered(self) -> dict[str, Any]:
        found = fetched(f"{self._chosen.issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self._chosen.issuer:
            raise GadError(
                f"The provider calls itself {found.get('issuer')!r}. GAD_OIDC_ISSUER must be the same."
            )
        wrong = [name for name in _ENDPOINTS if not is_protected(str(found.get(name, "")))]
        if wrong:
            raise GadError(f"The provider names no https:// address as its {', '.join(wrong)}.")
        return found

    def _token(self, attempt: Attempt, back: str, code: str) -> str:
        """The id token that a code stands for."""
        described, headers = self.described(), {}
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "client_id": self._chosen.client,
            "code_verifier": attempt.verifier,
        }
        ways = described.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if self._chosen.secret and "client_secret_basic" in ways:
            headers["authorization"] = _basic(self._chosen.client, self._chosen.secret)
        elif self._chosen.secret:
            form["client_secret"] = self._chosen.secret
        return str(fetched(str(described["token_endpoint"]), form, headers).get("id_token", ""))

    def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        """What a token says, once signature, issuer, audience, times and nonce are found right."""
        import jwt

        client = self._chosen.client
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(jwt.get_unverified_header(token).get("kid")),
                algorithms=list(ALGORITHMS),
                audience=client,
                issuer=self._chosen.issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise NotAllowed(f"The provider's token does not hold ({error}). {_NOT_NOW}") from error
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise NotAllowed("The provider's token is of another login. Begin the login again.")
        if claims.get("azp", client) != client:
            raise NotAllowed(f"The provider's token was made for another program. {_NOT_NOW}")
        return claims

    def _key(self, number: str | None) -> Any:
        """The key of the provider that signs; without a number the only one that it has."""
        import jwt

        keys = jwt.PyJWKSet.from_dict(fetched(str(self.described()["jwks_uri"]))).keys
        signing = [key for key in keys if key.public_key_use in (None, "sig")]
        fitting = [key for key in signing if number in (None, key.key_id)]
        if len(fitting) != 1:
            raise NotAllowed(f"The provider has no key {number or ''} that its token could be signed with.")
        return fitting[0]

    def _vouched(self, claims: dict[str, Any]) -> Vouched:
        name = claims.get(self._chosen.name_claim)
        if not isinstance(name, str) or not name:
            raise NotAllowed(f"The provider's token has no {self._chosen.name_claim}. {_NOT_NOW}")
        if self._chosen.name_claim == "email" and claims.get("email_verified") is not True:
            raise NotAllowed("The provider has not checked your e-mail address.")
        return Vouched(name, self._role(claims), datetime.fromtimestamp(min(int(claims["exp"]), _FAR), UTC))

    def _role(self, claims: dict[str, Any]) -> Role | None:
        """The highest role that the claim gives; None where roles are kept here."""
        if not self._chosen.roles_claim:
            return None
        told = claims.get(self._chosen.roles_claim)
        values = told if isinstance(told, list) else [told]
        given = [role for value, role in self._roles if value in values]
        if not given:
            raise NotAllowed(f"None of your {self._chosen.roles_claim} may use Ringfence. Ask an admin.")
        return max(given)


def _roles(chosen: SingleSignOn) -> list[tuple[str, Role]]:
    known = {role.word: role for role in Role}
    for _, word in chosen.roles:
        if word not in known:
            raise UsageError(f"GAD_OIDC_ROLES names a role {word!r}. Expected: one of {', '.join(known)}.")
    return [(value, known[word]) for value, word in chosen.roles]


def _basic(client: str, secret: str) -> str:
    """Client and secret as RFC 6749 has them in a header."""
    pair = f"{quote(client, safe='')}:{quote(secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
