"""The API against its own OpenAPI document: whatever is sent, the answer is one that the document names."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode

from gadcore.api import openapi
from gadcore.api.dispatch import ROUTES

EXAMPLES = 4  # of each call and mode
BOUNDED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# A node that the graph lacks, a model that is none: the document cannot tell them from those that are there.
LEFT_OUT = [schemathesis.checks.positive_data_acceptance]
DOCUMENT = openapi.document(ROUTES)
CALLS = {each.ok().definition.raw["operationId"]: each.ok()
         for each in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()}  # fmt: skip


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("call", "start"):
        monkeypatch.setattr(f"gadcore.jobs.workers.{name}", lambda *_: None)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", CALLS)
def test_whatever_is_sent_the_answer_is_one_that_the_document_names(
    served, url: str, name: str, mode: GenerationMode
) -> None:
    operation: Any = CALLS[name]
    shown = {"Authorization": served.programs["admin"].shown["authorization"]}

    @given(case=operation.as_strategy(generation_mode=mode))
    @BOUNDED
    def answered(case: Any) -> None:
        if mode is GenerationMode.POSITIVE:
            aim(case, served.workspace.id)
        case.call_and_validate(base_url=url, headers=shown, excluded_checks=LEFT_OUT)

    answered()


def aim(case: Any, project: str) -> None:
    """Have a case ask for what there is, so that more than "not found" is answered."""
    if "project" in case.path_parameters:
        case.path_parameters["project"] = project
    if "node" in (case.query or {}):
        case.query["node"] = "n010"
    if isinstance(case.body, dict) and "node" in case.body:
        case.body["node"] = "n010"


def test_the_document_is_openapi_and_its_names_are_its_own() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    assert len(CALLS) == len(ROUTES)
