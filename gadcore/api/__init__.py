"""The API for programs: HTTP under /api/v1, and the same calls as tools of an assistant (MCP).

routes      the one table of calls; dispatcher, OpenAPI document, docs page and tools are drawn from it
endpoint    what a call is, and what it is given
forms       typed requests: what is asked for is checked field by field
json_schema JSON Schema of forms and records
*_calls     what the calls do, by the door of a project
dispatch    ASGI: finds the call, checks role and request, answers
problems    errors as documents (RFC 9457)
openapi     the OpenAPI document and the page drawn from it
mcp         the Model Context Protocol: a message in, a message out
"""

from __future__ import annotations

from gadcore.api.dispatch import Api

__all__ = ["Api"]
