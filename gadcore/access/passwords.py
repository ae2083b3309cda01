"""Passwords as argon2id hashes, with the costs that RFC 9106 recommends for little memory."""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from gadcore.errors import InputError

LEAST = 10  # letters
MOST = 200  # a longer one would only keep the server busy
NO_PASSWORD = "!"  # of a user who comes by a proxy or single sign-on: no password fits

_hasher = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
_NOBODY = _hasher.hash("nobody has this one")


def hashed(password: str) -> str:
    """The hash to keep of a password; InputError for one that is too short or too long."""
    if not LEAST <= len(password) <= MOST:
        raise InputError(f"a password of {len(password)} letters", f"{LEAST} to {MOST} letters")
    return _hasher.hash(password)


def fits(password: str, kept: str | None) -> bool:
    """Whether a password is the one whose hash was kept; as slow where there is none."""
    real = kept if kept != NO_PASSWORD else None
    try:
        return _hasher.verify(real or _NOBODY, password[: MOST + 1]) and real is not None
    except (VerificationError, InvalidHashError):
        return False
