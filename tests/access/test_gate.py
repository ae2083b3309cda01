"""The gate: who is let in, from where, and until when."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from asgi_client import HOST, PAGE, PASSWORD, Browser, add_users

from gadcore.access import LOCAL, Role, Who, logins
from gadcore.access.passes import HEADER, Pass
from gadcore.access.users import UserList
from gadcore.errors import NotAllowed
from gadcore.gate import stop_unless_ready, visitors
from gadcore.gate.desk import own_path
from gadcore.gate.headers import HEADERS
from gadcore.settings import Settings
from gadcore.store import open_store
from gadcore.store.schema import now


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 with the least cost: what it costs is no matter here."""
    from argon2 import PasswordHasher

    from gadcore.access import passwords

    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", cheap)
    monkeypatch.setattr(passwords, "_NOBODY", cheap.hash("nobody"))


@pytest.fixture
def browser(settings: Settings) -> Browser:
    """Outside the server, not logged in; ana is analyst, adi is admin."""
    add_users(settings, ana="analyst", adi="admin")
    return Browser(settings)


def at_home(settings: Settings, **more: str) -> Browser:
    return Browser(
        settings, **{"address": "127.0.0.1", "peer": "127.0.0.1", "host": "localhost:8501", **more}
    )


def test_nobody_gets_a_page_but_the_login(browser: Browser) -> None:
    answer = browser.ask("/Label?project=p", **PAGE)
    assert (answer.status, answer.headers["location"]) == (303, "/login?next=/Label%3Fproject%3Dp")
    assert browser.ask("/static/js/index.js").status == 401
    assert browser.socket()[-1] == {"type": "websocket.close", "code": 1008}
    assert browser.app.passes == []


def test_a_login_leads_on_and_the_app_learns_who_it_is(browser: Browser) -> None:
    answer = browser.ask("/login", form={"name": "ana", "password": PASSWORD, "next": "/Label?project=p"})
    assert (answer.status, answer.headers["location"]) == (303, "/Label?project=p")
    assert "HttpOnly; SameSite=Lax" in answer.headers["set-cookie"]
    browser.cookie = answer.cookie
    assert browser.ask("/Label").body == "the app"
    found = browser.app.passes[-1]
    assert found is not None
    assert found.who == Who("ana", Role.ANALYST)
    assert found.login


def test_the_store_does_not_hold_the_secret_of_a_cookie(browser: Browser, settings: Settings) -> None:
    secret = browser.log_in("ana").cookie.split("=")[1]
    kept = Path(settings.home / "ringfence.sqlite").read_bytes()
    kept += Path(settings.home / "ringfence.sqlite-wal").read_bytes()
    assert secret.encode() not in kept
    assert PASSWORD.encode() not in kept


def test_the_trail_tells_of_logins_and_users_and_keeps_no_password(
    browser: Browser, settings: Settings
) -> None:
    browser.log_in("ana", "wrong password")
    browser.log_in("ana")
    browser.ask("/logout", form={})
    UserList(settings).remove("ana")
    found = open_store(settings).trail.newest(10)
    told = [(entry.action, entry.who) for entry in reversed(found)]
    assert told[2:] == [
        ("login refused", "ana"),
        ("login", "ana"),
        ("logout", "ana"),
        ("user removed", "ana"),
    ]
    assert told[:2] == [("user added", "ana"), ("user added", "ana")]  # by ana, whom the settings name
    assert "password" not in str(found)


def test_a_wrong_password_is_refused_as_an_unknown_name_is(browser: Browser) -> None:
    wrong, unknown = browser.log_in("ana", "wrong password"), browser.log_in("nobody", "wrong password")
    assert wrong.status == unknown.status == 401
    assert wrong.body.replace("ana", "nobody") == unknown.body
    assert browser.ask("/Label").status == 401


def test_wrong_passwords_slow_down_and_the_right_one_must_wait_too(
    browser: Browser, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(logins.FREE["pair"]):
        assert browser.log_in("ana", "wrong password").status == 401
    answer = browser.log_in("ana")
    assert answer.status == 429
    assert "Wait" in answer.body
    assert Browser(settings).log_in("ana").status == 429  # another process
    assert Browser(settings, peer="198.51.100.9").log_in("ana").status == 303  # ana elsewhere
    moment = now()
    monkeypatch.setattr(logins, "now", lambda: moment + timedelta(seconds=5))
    assert browser.log_in("ana").status == 303


def test_each_wrong_password_doubles_the_wait() -> None:
    free = logins.FREE["pair"]
    waits = [logins.wait_after(times, "pair").total_seconds() for times in range(free - 1, free + 20)]
    assert waits[:5] == [0, 1, 2, 4, 8]
    assert max(waits) == logins.MOST_WAIT


def test_many_guesses_at_once_are_counted_one_after_another(settings: Settings) -> None:
    add_users(settings, ana="analyst")
    desk = logins.Logins(settings)

    def guess(_: int) -> str:
        try:
            return desk.begin("ana", "wrong password", "a")
        except NotAllowed as error:
            return type(error).__name__

    with ThreadPoolExecutor(8) as pool:
        said = Counter(pool.map(guess, range(24)))
    assert said["NotAllowed"] <= logins.FREE["pair"] + 1
    assert sum(said.values()) == 24


def test_a_login_ends_by_rest_by_age_and_by_leaving(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.log_in("ana")
    began = now()
    monkeypatch.setattr(logins, "now", lambda: began + logins.IDLE / 2)
    assert browser.ask("/Label").status == 200
    monkeypatch.setattr(logins, "now", lambda: began + logins.IDLE + timedelta(seconds=9))
    assert browser.ask("/Label").status == 401
    monkeypatch.setattr(logins, "now", now)
    assert browser.ask("/logout", form={}).status == 303
    assert browser.ask("/Label").status == 401


def test_work_keeps_a_login_alive_but_not_for_ever(
    browser: Browser, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.log_in("ana")
    browser.ask("/Label")
    found, began = browser.app.passes[-1], now()
    assert found is not None
    from gadcore.store import users as rows

    step = began
    while step < began + logins.LONGEST - logins.IDLE:
        step += logins.IDLE / 2
        monkeypatch.setattr(logins, "now", lambda step=step: step)
        monkeypatch.setattr(rows, "now", lambda step=step: step)
        assert browser.ask("/Label").status == 200
        logins.Logins(settings).touch(found.login)
    monkeypatch.setattr(logins, "now", lambda: began + logins.LONGEST + timedelta(seconds=9))
    assert browser.ask("/Label").status == 401


def test_a_socket_closes_when_its_login_ends(
    browser: Browser, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "HOLDS", -1.0)
    browser.log_in("ana")
    told = browser.socket(b"one", lambda: UserList(settings).set_role("ana", "viewer"), b"two")
    assert [message["bytes"] for message in browser.app.heard] == [b"one"]
    assert told[-1] == {"type": "websocket.close", "code": 1008}


@pytest.mark.parametrize("change", ["role", "password", "remove"])
def test_a_changed_user_has_to_log_in_again(browser: Browser, settings: Settings, change: str) -> None:
    browser.log_in("ana")
    users = UserList(settings)
    {
        "role": lambda: users.set_role("ana", "lead"),
        "password": lambda: users.set_password("ana", "another password"),
        "remove": lambda: users.remove("ana"),
    }[change]()
    assert browser.ask("/Label").status == 401


def test_other_sites_can_neither_send_forms_nor_open_sockets(browser: Browser) -> None:
    form = {"name": "ana", "password": PASSWORD}
    assert browser.ask("/login", form=form, origin="https://evil.example").status == 403
    assert browser.ask("/login", "POST").status == 403
    browser.log_in("ana")
    assert browser.ask("/_stcore/upload_file/a/b", "PUT", origin="https://evil.example").status == 403
    for more in (
        {"origin": "https://evil.example"},
        {"origin": ""},
        {"sec-websocket-protocol": "streamlit, y"},
    ):
        assert browser.socket(**more)[-1]["type"] == "websocket.close"
    assert browser.socket()[0]["type"] == "websocket.accept"


def test_a_pass_from_outside_is_dropped(browser: Browser) -> None:
    browser.log_in("ana")
    forged = json.dumps(["0" * 32, "adi", 4, ""])
    for value in (forged, Pass(Who("adi", Role.ADMIN)).header()):
        browser.ask("/Label", **{HEADER: value})
        found = browser.app.passes[-1]
        assert found is not None
        assert found.who.name == "ana"


def test_this_machine_needs_no_login(settings: Settings) -> None:
    here = at_home(settings)
    assert here.ask("/Label").body == "the app"
    assert here.app.passes == [Pass(LOCAL)]
    assert here.socket(**{"sec-websocket-protocol": "streamlit"})[0]["type"] == "websocket.accept"
    assert here.ask("/metrics").status == 200


def test_this_machine_needs_a_login_where_others_may_be_behind_it(settings: Settings) -> None:
    assert at_home(settings, host="evil.example:8501").ask("/Label").status == 401  # a rebound name
    assert at_home(settings).ask("/Label", **{"x-forwarded-for": "203.0.113.7"}).status == 401
    assert at_home(settings, peer="203.0.113.7").ask("/Label").status == 401
    assert at_home(replace(settings, login_always=True)).ask("/Label").status == 401
    assert at_home(settings).socket(origin="https://evil.example")[-1]["type"] == "websocket.close"


def test_a_trusted_proxy_says_who_it_is_and_nobody_else_does(settings: Settings) -> None:
    UserList(settings).add("eva", "lead", None)
    named = {"x-forwarded-user": "eva"}
    trusting = replace(settings, proxies=("10.0.0.1",))
    proxy = Browser(trusting, peer="10.0.0.1")
    assert proxy.ask("/Label", **named).status == 200
    assert proxy.app.passes[-1] == Pass(Who("eva", Role.LEAD))
    assert proxy.ask("/Label", **{"x-forwarded-user": "unknown"}).status == 401
    assert Browser(trusting).ask("/Label", **named).status == 401
    assert Browser(settings, peer="10.0.0.1").ask("/Label", **named).status == 401
    assert proxy.log_in("eva", "!").status == 401  # no password fits
    add_users(settings, adi="admin")  # has a password, and comes in with it alone
    assert proxy.ask("/Label", **{"x-forwarded-user": "adi"}).status == 401


def test_every_answer_has_the_headers_that_protect_it(browser: Browser) -> None:
    browser.log_in("ana")
    for path in ("/Label", "/login", "/health", "/metrics", "/nothing"):
        found = browser.ask(path).headers
        assert HEADERS.items() <= found.items(), path
    assert "'none'" in HEADERS["content-security-policy"]


def test_the_cookie_is_for_https_alone_where_a_proxy_speaks_it(settings: Settings) -> None:
    add_users(settings, ana="analyst")
    proxy = Browser(replace(settings, proxies=("10.0.0.1",)), peer="10.0.0.1")
    form = {"name": "ana", "password": PASSWORD}
    answer = proxy.ask("/login", form=form, **{"x-forwarded-proto": "https"})
    assert "; Secure" in answer.headers["set-cookie"]
    assert "strict-transport-security" in answer.headers


def test_people_change_their_password_with_the_old_one(browser: Browser) -> None:
    browser.log_in("ana")
    new = {"new": "another password", "again": "another password"}
    assert browser.ask("/account", form={"password": "wrong password", **new}).status == 400
    assert browser.ask("/account", form={"password": PASSWORD, **new, "again": "x"}).status == 400
    assert browser.ask("/account", form={"password": PASSWORD, **new}).status == 303
    assert browser.ask("/Label").status == 401
    assert browser.log_in("ana", "another password").status == 303


@pytest.mark.parametrize(
    "asked", ["//evil.example", "/\\evil.example", "https://evil.example", "", "/a\r\nb"]
)
def test_a_login_leads_to_this_server_alone(asked: str) -> None:
    assert own_path(asked) == "/"


def test_what_is_shown_on_the_login_page_is_escaped(browser: Browser) -> None:
    page = browser.ask("/login?next=%22%3E%3Cscript%3E").body
    assert "<script>" not in page


def test_a_form_without_end_is_not_read_to_its_end(browser: Browser) -> None:
    assert browser.ask("/login", form={"name": "ana", "password": "x" * 20_000}).status == 401


def test_health_tells_whether_the_store_answers(settings: Settings) -> None:
    outside = Browser(settings)
    answer = outside.ask("/health")
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "ok")
    open_store(settings).database.close()
    (settings.home / "ringfence.sqlite").write_bytes(b"no database" * 1000)
    assert Browser(settings).ask("/health").status == 503


def test_metrics_are_prometheus_text_and_name_nobody(browser: Browser) -> None:
    browser.log_in("adi")
    text = browser.ask("/metrics").body
    assert 'ringfence_rows{table="users"} 2' in text
    assert "ringfence_open_tabs 0" in text
    assert "adi" not in text
    for line in text.splitlines():
        assert line.startswith("# ") or float(line.rsplit(" ", 1)[1]) >= 0


@pytest.mark.parametrize("address", ["0.0.0.0", "", "192.0.2.1", "::", HOST])
def test_a_server_does_not_start_on_other_addresses_without_users(
    settings: Settings, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        stop_unless_ready(settings, address)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.count("\n") == 1
    assert "ringfence user add" in said
    add_users(settings, ana="analyst")
    stop_unless_ready(settings, address)


def test_a_server_starts_on_this_machine_without_users(settings: Settings) -> None:
    for address in ("127.0.0.1", "localhost", "::1"):
        stop_unless_ready(settings, address)
    with pytest.raises(SystemExit):
        stop_unless_ready(replace(settings, login_always=True), "127.0.0.1")
