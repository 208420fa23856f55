"""The client that tests use, and the part of an answer that they expect."""

import os
from collections.abc import Mapping
from http import HTTPStatus
from typing import Protocol, TypeVar

from slated_client import AuthenticatedClient
from slated_client.api.jobs import create_job
from slated_client.api.persons import create_person
from slated_client.models import CreateJobBody, CreatePersonBody, ErrorAnswer, ErrorAnswerError, ErrorV0

URL = os.environ["SLATED_URL"]

client = AuthenticatedClient(URL, token=os.environ["SLATED_KEY"], raise_on_unexpected_status=True)

Body = TypeVar("Body", covariant=True)
Data = TypeVar("Data", covariant=True)


class Answer(Protocol[Body]):
    @property
    def status_code(self) -> HTTPStatus: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def content(self) -> bytes: ...
    @property
    def parsed(self) -> Body | None: ...


class Envelope(Protocol[Data]):
    @property
    def data(self) -> Data: ...


def body(answer: Answer[Body | ErrorAnswer | ErrorV0], status: int = 200) -> Body:
    assert answer.status_code == status, answer.content
    assert answer.parsed is not None and not isinstance(answer.parsed, (ErrorAnswer, ErrorV0)), answer.content
    return answer.parsed


def good(answer: Answer[Envelope[Data] | ErrorAnswer | ErrorV0], status: int = 200) -> Data:
    return body(answer, status).data


def refused(answer: Answer[object], status: int) -> ErrorAnswerError:
    assert answer.status_code == status, answer.content
    assert isinstance(answer.parsed, ErrorAnswer), answer.content
    assert answer.parsed.error.request_id == answer.headers["X-Request-Id"]
    return answer.parsed.error


def new_job(name: str) -> str:
    job = CreateJobBody(name, client_company_name="Babbage & Co")
    return good(create_job.sync_detailed(client=client, body=job), 201).id


def new_person(name: str) -> str:
    return good(create_person.sync_detailed(client=client, body=CreatePersonBody(name=name)), 201).id
