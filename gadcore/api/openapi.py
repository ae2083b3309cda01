"""The OpenAPI document and the page for people, both drawn from the table of calls."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, Template

from gadcore import __version__
from gadcore.access import Role
from gadcore.access.rights import least_role
from gadcore.api.endpoint import BASE, Endpoint
from gadcore.api.forms import TEXT
from gadcore.api.json_schema import Schema, Schemas, form_parts, form_schema

_FILE = Path(__file__).with_name("docs.html.jinja")
_PROBLEM: Schema = {
    "type": "object",
    "description": "What was found, what was expected, and what to do (RFC 9457)",
    "properties": {
        **{name: {"type": "string"} for name in ("type", "title", "detail", "found", "expected", "to_do")},
        "status": {"type": "integer"},
    },
    "required": ["type", "title", "status", "detail"],
}
_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "a new one for every call: made again with the same, the call is answered and not done",
    "schema": {"type": "string", "pattern": r"^[\x21-\x7e]{1,200}$"},
}


def document(routes: Iterable[Endpoint]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of the calls."""
    schemas = Schemas()
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.url, {})[route.method.lower()] = _operation(route, schemas)
    token = {"type": "http", "scheme": "bearer", "description": "made with: ringfence token add NAME"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Ringfence", "version": __version__, "summary": "Verdicts in, ranked cases out"},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": token},
            "schemas": {**dict(sorted(schemas.named.items())), "Problem": _PROBLEM},
        },
    }


def role_of(route: Endpoint) -> str:
    """The role that a call needs, as a word."""
    return (least_role(route.act) or Role.ADMIN).word


def name_of(route: Endpoint) -> str:
    """A name of the call that no other has."""
    words = [word.strip("{}") for word in route.path.replace(".", "/").split("/") if word]
    return "_".join([route.method.lower(), *words])


def _operation(route: Endpoint, schemas: Schemas) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": name_of(route),
        "summary": route.about,
        "description": f"Role: {role_of(route)}.",
        "parameters": _parameters(route),
        "responses": _responses(route, schemas),
    }
    if (body := _body(route)) is not None:
        operation["requestBody"] = {"required": True, "content": body}
    return operation


def _body(route: Endpoint) -> Schema | None:
    if route.takes_file:
        return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return None if route.body is None else {"application/json": {"schema": form_schema(route.body)}}


def _parameters(route: Endpoint) -> list[Schema]:
    text: Schema = {"type": "string", "minLength": 1, "pattern": TEXT}
    found: list[Schema] = [
        {"name": name, "in": "path", "required": True, "schema": text, "description": _PLACES[name]}
        for name in route.places
    ]
    for name, (schema, required) in form_parts(route.query, in_query=True).items():
        said = {"description": schema.pop("description"), "required": required, "schema": schema}
        found.append({"name": name, "in": "query", **said})
    return [*found, *([_KEY] if route.keyed else [])]


_PLACES = {
    "project": "id or name of the project",
    "run": "id or number of the run",
    "import": "id of the import",
    "update": "id of an update, as its start has answered it",
}


def _responses(route: Endpoint, schemas: Schemas) -> Schema:
    wrong = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    if route.answer is bytes:
        content: Schema = {"text/csv": {"schema": {"type": "string"}}}
    else:
        content = {"application/json": {"schema": schemas.of(route.answer)}}
    done: Schema = {str(route.status): {"description": "done", "content": content}}
    if route.answers_nothing:
        done["202"] = {"description": "taken; there is nothing to say"}
    problems = {"4XX": "not possible, and why", "503": "the store does not answer now; try again"}
    return done | {code: {"description": said, "content": wrong} for code, said in problems.items()}


def docs_page(routes: Iterable[Endpoint], drawn: dict[str, Any]) -> str:
    """The page for people: every call with its parameters, without a script."""
    calls = [
        {
            "method": route.method,
            "url": route.url,
            "about": route.about,
            "role": role_of(route),
            "name": name_of(route),
            "tool": route.tool,
            **_told(drawn["paths"][route.url][route.method.lower()]),
        }
        for route in routes
    ]
    return _template().render(calls=calls, version=__version__, base=BASE)


def _told(operation: dict[str, Any]) -> dict[str, Any]:
    """Parameters and fields of a call as rows of a table: name, place, what it may be, what it means."""
    rows = [(p["name"], p["in"], _words(p["schema"], p["required"]), p["description"])
            for p in operation["parameters"]]  # fmt: skip
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    needed = schema.get("required", [])
    for name, part in schema.get("properties", {}).items():
        rows.append((name, "body", _words(part, name in needed), part.get("description", "")))
    return {"rows": rows, "file": "application/octet-stream" in content}


def _words(schema: Schema, required: bool) -> str:
    kind = schema.get("type", "")
    options = [str(word) for word in schema.get("enum", ()) if word is not None]
    words = [" or ".join(options) or (kind if isinstance(kind, str) else kind[0])]
    if "default" in schema:
        words.append(f"else {schema['default']!r}")
    elif required:
        words.append("needed")
    least, most = schema.get("minimum"), schema.get("maximum")
    if most is not None and most < 10**12:
        words.append(f"{least} to {most:,}")
    return ", ".join(word for word in words if word)


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, trim_blocks=True)
    return environment.from_string(_FILE.read_text(encoding="utf-8"))
