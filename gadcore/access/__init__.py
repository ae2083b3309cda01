"""Who may come in, and what each may do.

roles      viewer, analyst, lead, admin; a person at work
rights     the one table of what each role may do, and the check of it
passwords  their argon2 hashes
oidc       a provider of OpenID Connect says who somebody is
fetch      documents of that provider
logins     a password, or the word of a provider, becomes a login, and a login ends
passes     what the gate tells the pages of a visitor
users      add, change and remove users
tokens     the same for programs
"""

from __future__ import annotations

from gadcore.access.rights import check, guarded, may, only_read
from gadcore.access.roles import LOCAL, Role, Who

__all__ = ["LOCAL", "Role", "Who", "check", "guarded", "may", "only_read"]
