"""Single sign-on: who is let in on the word of a provider, until when, and which word does not count."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from asgi_client import HOST, Answer, Browser, add_users
from oidc_provider import CLIENT, LASTS, OTHER_KEY, SECRET, FakeProvider, provider_on_loopback

from gadcore.access import Role, Who, logins
from gadcore.access.oidc import LEEWAY
from gadcore.access.users import UserList
from gadcore.errors import UsageError
from gadcore.gate import stop_unless_ready
from gadcore.settings import Settings, SingleSignOn, child_environment
from gadcore.store import open_store
from gadcore.store.schema import now

GROUPS = (("fraud-team", "analyst"), ("fraud-leads", "lead"))


@pytest.fixture(scope="module")
def running() -> Iterator[FakeProvider]:
    with provider_on_loopback() as fake:
        yield fake


@pytest.fixture
def provider(running: FakeProvider) -> FakeProvider:
    """A provider that errs in nothing yet."""
    running.__dict__.update(FakeProvider(running.issuer).__dict__)
    return running


@pytest.fixture
def chosen(provider: FakeProvider) -> SingleSignOn:
    return SingleSignOn(provider.issuer, CLIENT, SECRET)


@pytest.fixture
def browser(settings: Settings, chosen: SingleSignOn) -> Browser:
    """Outside the server; eva and lea may come in by single sign-on."""
    for name, role in (("eva", "analyst"), ("lea", "lead")):
        UserList(settings).add(name, role, None)
    return Browser(replace(settings, oidc=chosen))


def begin(browser: Browser, provider: FakeProvider, asked: str = "/Label") -> str:
    """Go to the provider and log in there; the query with which the browser comes back."""
    answer = browser.ask(f"/login/oidc?next={asked}")
    assert answer.status == 303, answer.body
    browser.cookie = answer.cookie
    return provider.authorize(answer.headers["location"])


def finish(browser: Browser, query: str) -> Answer:
    answer = browser.ask(f"/login/oidc/back?{query}")
    assert any(kept.startswith("ringfence_sign_on=;") for kept in answer.cookies)  # the attempt is over
    return answer


def sign_on(browser: Browser, provider: FakeProvider, asked: str = "/Label") -> Answer:
    answer = finish(browser, begin(browser, provider, asked))
    if answer.status == 303:
        browser.cookie = answer.cookie
    return answer


def test_the_word_of_a_provider_becomes_a_login_of_ours(browser: Browser, provider: FakeProvider) -> None:
    answer = sign_on(browser, provider, "/Label%3Fproject%3Dp")
    assert (answer.status, answer.headers["location"]) == (303, "/Label?project=p")
    assert "HttpOnly; SameSite=Lax" in answer.cookies[0]
    assert browser.ask("/Label").body == "the app"
    found = browser.app.passes[-1]
    assert found is not None
    assert found.who == Who("eva", Role.ANALYST)
    assert provider.asked["redirect_uri"] == f"http://{HOST}/login/oidc/back"
    assert provider.asked["code_challenge_method"] == "S256"
    assert browser.ask("/logout", form={}).status == 303
    assert browser.ask("/Label").status == 401


def test_the_login_page_offers_it_only_where_it_is_set_up(browser: Browser, settings: Settings) -> None:
    assert 'href="/login/oidc?next=/Label%3Fa%3D1"' in browser.ask("/login?next=/Label%3Fa%3D1").body
    without = Browser(settings)
    assert "/login/oidc" not in without.ask("/login").body
    assert without.ask("/login/oidc").status == 404


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"nonce": "another"}, "of another login"),
        ({"nonce": None}, "of another login"),
        ({"aud": "another-client"}, "Audience"),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "another program"),
        ({"iss": "https://evil.example"}, "issuer"),
        ({"exp": int(time.time()) - LEEWAY - 60}, "expired"),
        ({"exp": None}, "exp"),
        ({"iat": int(time.time()) + 3600}, "iat"),
        ({"preferred_username": ["eva"]}, "no preferred_username"),
        ({"preferred_username": "unknown"}, "unknown may not log in"),
    ],
)
def test_a_token_that_does_not_fit_is_refused(
    browser: Browser, provider: FakeProvider, claims: dict[str, Any], said: str
) -> None:
    provider.claims = claims
    answer = sign_on(browser, provider)
    assert (answer.status, said in answer.body) == (401, True), answer.body
    assert browser.ask("/Label").status == 401


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [(OTHER_KEY, "ES256"), ("a secret that everybody could use" * 2, "HS256"), (None, "none")],
)
def test_a_signature_of_somebody_else_is_refused(
    browser: Browser, provider: FakeProvider, key: Any, algorithm: str
) -> None:
    provider.key, provider.algorithm = key, algorithm
    assert sign_on(browser, provider).status == 401
    assert provider.tokens == 1


def test_a_login_that_was_finished_cannot_be_finished_again(
    browser: Browser, provider: FakeProvider, settings: Settings, chosen: SingleSignOn
) -> None:
    query, attempt = begin(browser, provider), browser.cookie
    assert finish(browser, query).status == 303
    provider.codes.add(query.split("code=")[1])  # a provider that takes a code twice
    other = Browser(replace(settings, oidc=chosen))  # another process of the server
    other.cookie = attempt
    answer = finish(other, query)
    assert (answer.status, "finished before" in answer.body) == (401, True)
    assert provider.tokens == 1


def test_only_the_browser_that_began_a_login_finishes_it(browser: Browser, provider: FakeProvider) -> None:
    query, attempt = begin(browser, provider), browser.cookie
    browser.cookie = ""
    assert finish(browser, query).status == 401
    begin(browser, provider)
    assert finish(browser, query).status == 401  # the state of the attempt before
    browser.cookie = "ringfence_sign_on=%5B1%2C2%5D"
    assert finish(browser, query).status == 401
    assert provider.tokens == 0
    browser.cookie = attempt
    assert finish(browser, "error=access_denied&" + query.split("&")[0]).status == 401


def test_an_answer_of_another_provider_is_refused(browser: Browser, provider: FakeProvider) -> None:
    assert finish(browser, begin(browser, provider) + "&iss=https://evil.example").status == 401
    assert finish(browser, begin(browser, provider) + f"&iss={provider.issuer}").status == 303


def test_a_login_ends_with_the_token_and_with_ours_at_the_latest(
    browser: Browser, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = now()
    provider.claims = {"exp": int(time.time()) + LASTS // 4}
    sign_on(browser, provider)
    monkeypatch.setattr(logins, "now", lambda: began + timedelta(seconds=LASTS // 4 - 30))
    assert browser.ask("/Label").status == 200
    monkeypatch.setattr(logins, "now", lambda: began + timedelta(seconds=LASTS // 4 + 30))
    assert browser.ask("/Label").status == 401
    monkeypatch.setattr(logins, "now", now)
    provider.claims = {"exp": 10**18}
    sign_on(browser, provider)
    assert browser.ask("/Label").status == 200
    monkeypatch.setattr(logins, "IDLE", timedelta(days=99))
    monkeypatch.setattr(logins, "now", lambda: began + logins.LONGEST + timedelta(minutes=1))
    assert browser.ask("/Label").status == 401


def test_whoever_takes_the_name_of_a_user_with_a_password_does_not_become_that_user(
    browser: Browser, provider: FakeProvider, settings: Settings
) -> None:
    add_users(settings, adi="admin")
    provider.person = {"preferred_username": "adi", "groups": ["fraud-team"]}
    assert sign_on(browser, provider).status == 401
    assert browser.log_in("adi").status == 303
    told = [(entry.action, entry.who) for entry in open_store(settings).trail.newest(2)]
    assert told == [("login", "adi"), ("login refused", "adi")]


def test_a_claim_gives_the_role_and_makes_the_user(settings: Settings, provider, chosen) -> None:
    mapped = replace(settings, oidc=replace(chosen, roles_claim="groups", roles=GROUPS))
    stop_unless_ready(mapped, "0.0.0.0")  # no user has to be there
    browser = Browser(mapped)
    roles = []
    for groups in (["fraud-team"], ["x", "fraud-leads", "fraud-team"], "fraud-team"):
        provider.person = {"preferred_username": "new", "groups": groups}
        assert sign_on(browser, provider).status == 303
        roles.append(next(user.role for user in UserList(settings).all() if user.name == "new"))
    assert roles == ["analyst", "lead", "analyst"]
    for groups in ([], ["others"], None):
        provider.person = {"preferred_username": "new", "groups": groups}
        assert sign_on(browser, provider).status == 401


def test_an_address_for_mail_counts_only_when_the_provider_has_checked_it(
    settings: Settings, provider: FakeProvider, chosen: SingleSignOn
) -> None:
    UserList(settings).add("eva@bank.example", "analyst", None)
    browser = Browser(replace(settings, oidc=replace(chosen, name_claim="email")))
    for checked, status in ((None, 401), (False, 401), (True, 303)):
        provider.person = {"email": "eva@bank.example", "email_verified": checked}
        assert sign_on(browser, provider).status == status


@pytest.mark.parametrize(
    "described",
    [{"issuer": "https://evil.example"}, {"token_endpoint": "http://evil.example/"}, {"jwks_uri": ""}],
)
def test_a_provider_that_cannot_be_trusted_is_not_used(browser: Browser, provider, described) -> None:
    provider.described = described
    assert browser.ask("/login/oidc").status == 502


def test_a_provider_that_refuses_or_is_away_is_told_without_secrets(
    browser: Browser, provider: FakeProvider, settings: Settings, chosen: SingleSignOn
) -> None:
    query = begin(browser, provider)
    provider.codes.clear()
    answer = finish(browser, query)
    assert (answer.status, "invalid_grant" in answer.body) == (502, True)
    assert "secret" not in answer.body
    away = Browser(replace(settings, oidc=replace(chosen, issuer="http://127.0.0.1:9")))
    assert away.ask("/login/oidc").status == 502


def test_the_account_page_asks_for_no_password_where_there_is_none(browser: Browser, provider) -> None:
    sign_on(browser, provider)
    page = browser.ask("/account").body
    assert ("Log out" in page, "New password" in page) == (True, False)


def test_settings_name_a_provider_or_say_what_is_missing() -> None:
    both = {"GAD_OIDC_ISSUER": "https://login.example", "GAD_OIDC_CLIENT": "c"}
    given = Settings.from_env({**both, "GAD_OIDC_ROLES": "groups: Fraud team=analyst, a=b=lead"}).oidc
    assert given is not None
    assert (given.roles_claim, given.roles) == ("groups", (("Fraud team", "analyst"), ("a=b", "lead")))
    for wrong in (
        {"GAD_OIDC_ISSUER": "https://login.example"},
        {**both, "GAD_OIDC_ISSUER": "http://login.example"},
        {**both, "GAD_OIDC_ROLES": "groups"},
        {**both, "GAD_OIDC_ROLES": "groups: a="},
    ):
        with pytest.raises(UsageError, match="GAD_OIDC"):
            Settings.from_env(wrong)


def test_a_role_that_there_is_not_keeps_the_server_from_starting(settings: Settings, chosen, capsys) -> None:
    wrong = replace(settings, oidc=replace(chosen, roles_claim="groups", roles=(("a", "boss"),)))
    with pytest.raises(UsageError, match="names a role 'boss'"):
        stop_unless_ready(wrong, "0.0.0.0")


def test_the_secret_of_the_client_stays_with_the_server(settings: Settings, chosen, monkeypatch) -> None:
    monkeypatch.setenv("GAD_OIDC_SECRET", SECRET)
    assert SECRET not in repr(chosen)
    assert SECRET not in child_environment(settings).values()
