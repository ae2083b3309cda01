"""token, webhook, mcp: what programs need."""

from __future__ import annotations

import io
import sys
from argparse import Namespace

from gadcore.access import Role, Who
from gadcore.cli.parser import Commands
from gadcore.cli.show import count, out, table
from gadcore.cli.users import ROLES
from gadcore.errors import InputError
from gadcore.settings import Settings

EVENTS = ("run-ended", "watched-rose")  # as workspace.webhooks has them, without its imports


def add_commands(commands: Commands) -> None:
    token = commands.add(
        "token", change_tokens, "tokens of programs that use the API", "token add case-system --role analyst"
    )
    token.add_argument("action", choices=["list", "add", "remove"])
    token.add_argument("name", nargs="?", help="name of the program: it stands in the trail (not for list)")
    token.add_argument("--role", choices=ROLES, default=Role.ANALYST.word, help="(default: analyst)")
    token.add_argument("--expires", default="90d", metavar="TIME", help="12h, 90d, 4w, never (default: 90d)")

    hook = commands.add(
        "webhook",
        change_webhooks,
        "addresses that are told of events",
        "webhook add https://case.example/hook --project demo --event run-ended",
    )
    hook.add_argument("action", choices=["list", "add", "remove", "log"])
    hook.add_argument("target", nargs="?", help="the address (for add), or its number (for remove)")
    hook.add_argument("--project", "-p", metavar="P", help="name or id of the project (for add)")
    hook.add_argument("--event", choices=EVENTS, default=EVENTS[0], help="(default: run-ended)")
    hook.add_argument("--rank", type=count, metavar="K", help="tell when a watched node rises to rank K")
    hook.add_argument("--private", action="store_true", help="the address may be one of your own network")
    hook.add_argument("-n", type=count, default=20, help="deliveries of the log (default: 20)")

    mcp = commands.add("mcp", serve_assistant, "serve an assistant over stdin and stdout (MCP)", "mcp")
    mcp.add_argument("--name", default="assistant", help="under which it works (default: assistant)")
    mcp.add_argument("--role", choices=ROLES, default=Role.ANALYST.word, help="viewer: it only reads")


def change_tokens(given: Namespace) -> None:
    """List tokens, add one and show its secret, or remove one."""
    from gadcore.access.tokens import Tokens

    tokens = Tokens(Settings.from_env())
    if given.action == "list":
        found = tokens.all()
        rows = [
            (t.name, t.role, _day(t.created_at), _day(t.expires_at) or "never", _day(t.used_at))
            for t in found
        ]
        out(given, found, table(("name", "role", "since", "expires", "last used"), rows))
    elif not given.name:
        raise InputError(f"token {given.action} without a name", fix=f"ringfence token {given.action} NAME")
    elif given.action == "add":
        secret = tokens.add(given.name, given.role, given.expires)
        said = f"Token of {given.name} ({given.role}). It is shown this once; keep it like a password:"
        out(given, {"name": given.name, "role": given.role, "token": secret}, said, secret)
    else:
        tokens.remove(given.name)
        out(given, {"name": given.name, "done": "remove"}, f"Removed {given.name}. Verdicts keep the name.")


def change_webhooks(given: Namespace) -> None:
    """List addresses, add or remove one, or show what was sent."""
    _HOOKS[given.action](given)


def _list_hooks(given: Namespace) -> None:
    from gadcore.workspace import webhooks

    found = webhooks.every(Settings.from_env())
    rows = [(str(h.number), h.project, h.event, h.top, h.url, h.private) for h in found]
    out(given, found, table(("number", "project", "event", "rank", "address", "private"), rows))


def _add_hook(given: Namespace) -> None:
    from gadcore.workspace import webhooks

    if not given.target or not given.project:
        raise InputError("webhook add without an address or a project", fix="webhook add URL --project P")
    chosen = {"private": given.private, "top": given.rank}
    number, secret = webhooks.add(Settings.from_env(), given.project, given.event, given.target, **chosen)
    said = (
        f"Webhook {number}: {given.event} to {given.target}. Its secret, for checking signatures, shown once:"
    )
    out(given, {"number": number, "secret": secret}, said, secret)


def _remove_hook(given: Namespace) -> None:
    from gadcore.workspace import webhooks

    if not given.target or not given.target.isdecimal():
        raise InputError(f"webhook remove {given.target!r}", "the number of a webhook", "webhook list")
    webhooks.remove(Settings.from_env(), int(given.target))
    out(given, {"number": int(given.target), "done": "remove"}, f"Removed webhook {given.target}.")


def _show_log(given: Namespace) -> None:
    from gadcore.workspace import webhooks

    found = webhooks.log(Settings.from_env(), given.n)
    rows = [
        (str(d.number), d.event, d.status, d.attempts, _day(d.created_at), d.url, d.answer) for d in found
    ]
    out(given, found, table(("number", "event", "status", "attempts", "from", "address", "answer"), rows))


def _day(at: object) -> str:
    return f"{at:%Y-%m-%d %H:%M}" if at else ""


def serve_assistant(given: Namespace) -> None:
    """Answer messages of an assistant until it closes its end."""
    from gadcore.api.mcp import Assistant, over_lines

    who = Who(given.name, Role.parse(given.role))
    heard = io.TextIOWrapper(sys.stdin.buffer, "utf-8", errors="replace")
    told = io.TextIOWrapper(sys.stdout.buffer, "utf-8")
    over_lines(Assistant(Settings.from_env(), who), heard, told)


_HOOKS = {"list": _list_hooks, "add": _add_hook, "remove": _remove_hook, "log": _show_log}
