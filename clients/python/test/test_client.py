import asyncio
import datetime
import os
import unittest
from collections.abc import Callable
from typing import Any, TypeVar

from slated_client import AuthenticatedClient
from slated_client.api.candidates import add_candidate, list_candidates, move_candidate, read_candidate
from slated_client.api.events import list_events, read_person_timeline
from slated_client.api.jobs import create_job, list_jobs, read_job, update_job
from slated_client.api.operations import health
from slated_client.api.persons import create_person, create_person_v0, read_person, replace_history, update_person
from slated_client.models import (
    AddCandidateBody,
    CertificationInput,
    ContactDataType,
    CreateJobBody,
    CreatePersonBody,
    CreatePersonBodyV0,
    CreatePersonOnDuplicate,
    CursorMeta,
    EnvelopeCandidateRead,
    EnvelopeConfirmation,
    EnvelopeJobRead,
    EnvelopePersonCreated,
    EnvelopePersonRead,
    EnvelopeV0,
    ErrorAnswer,
    ErrorAnswerError,
    ErrorAnswerErrorCode,
    ErrorAnswerErrorDetailsItemCode,
    ErrorV0,
    EventPage,
    Health,
    ListJobsSort,
    ListOfCandidateListItem,
    ListOfJobListItem,
    MoveCandidateBody,
    NewStageBody,
    OffsetMeta,
    PositionInput,
    ReplaceHistoryBody,
    TimelinePage,
    UpdateJobBody,
    UpdatePersonBody,
    WorkExperienceInput,
)
from slated_client.types import Response

URL = os.environ["SLATED_URL"]
NOWHERE = "00000000000000000000000000"

client = AuthenticatedClient(URL, token=os.environ["SLATED_KEY"], raise_on_unexpected_status=True)

Kind = TypeVar("Kind")
Page = ListOfJobListItem | ListOfCandidateListItem


def good(kind: type[Kind], answer: Response[Any], status: int = 200) -> Kind:
    assert answer.status_code == status, answer.content
    assert isinstance(answer.parsed, kind), answer.parsed
    return answer.parsed


def refused(answer: Response[Any], status: int) -> ErrorAnswerError:
    error = good(ErrorAnswer, answer, status).error
    assert error.request_id == answer.headers["X-Request-Id"]
    return error


def new_job(name: str) -> str:
    body = CreateJobBody(name, client_company_name="Babbage & Co")
    return good(EnvelopeJobRead, create_job.sync_detailed(client=client, body=body), 201).data.id


def new_person(body: CreatePersonBody) -> EnvelopePersonCreated:
    return good(EnvelopePersonCreated, create_person.sync_detailed(client=client, body=body), 201)


def tearDownModule() -> None:
    client.get_httpx_client().close()


class Records(unittest.TestCase):
    def test_a_person_is_created_read_updated_and_given_a_history(self) -> None:
        created = new_person(CreatePersonBody(name="Ada Lovelace", work_email="ada@example.com", mobile_phone="+44 20 7946 0000")).data
        self.assertEqual([(entry.contact_data_type, entry.value) for entry in created.emails], [(ContactDataType.WORK, "ada@example.com")])
        self.assertIsNone(created.candidate_id)

        same = CreatePersonBody(name="A. Lovelace", emails=["ADA@example.com"])
        again = good(EnvelopePersonCreated, create_person.sync_detailed(client=client, body=same)).data
        self.assertEqual(again.id, created.id)

        change = UpdatePersonBody(current_job_title="Analyst", company_name="Analytical Engines", phone_numbers=None)
        good(EnvelopeConfirmation, update_person.sync_detailed(created.id, client=client, body=change))
        read = good(EnvelopePersonRead, read_person.sync_detailed(created.id, client=client)).data
        self.assertEqual(
            (read.first_name, read.current_job_title, read.current_company_name, read.phones), ("Ada", "Analyst", "Analytical Engines", [])
        )

        position = PositionInput(title="Analyst", start_date=datetime.date(2022, 3, 1))
        history = ReplaceHistoryBody(
            work_experience=[WorkExperienceInput(company_name="Analytical Engines", positions=[position])],
            certifications=[CertificationInput(name="Certified Analyst")],
        )
        written = good(EnvelopePersonRead, replace_history.sync_detailed(created.id, client=client, body=history)).data
        self.assertEqual(written.work_experience[0].positions[0].start_date, "2022-03-01")
        self.assertIsNone(written.work_experience[0].positions[0].end_date)
        self.assertEqual(written.certifications[0].start_date, "")

    def test_a_job_is_created_once_for_each_key_read_and_updated(self) -> None:
        body = CreateJobBody("Chief Analyst", client_company_name="Babbage & Co", pipeline_stages=[NewStageBody("Applied"), NewStageBody("Hired")])
        created = good(EnvelopeJobRead, create_job.sync_detailed(client=client, body=body, idempotency_key="chief-analyst"), 201)
        again = good(EnvelopeJobRead, create_job.sync_detailed(client=client, body=body, idempotency_key="chief-analyst"), 201)
        self.assertEqual(again, created)
        self.assertEqual(good(EnvelopeJobRead, read_job.sync_detailed(created.data.id, client=client)), created)
        self.assertEqual(created.data.created_at.utcoffset(), datetime.timedelta(0))

        change = UpdateJobBody(job_status_name="On hold", is_archived=True)
        updated = good(EnvelopeJobRead, update_job.sync_detailed(created.data.id, client=client, body=change)).data
        self.assertEqual((updated.job_status_name, updated.is_archived), ("On hold", True))

    def test_a_candidate_is_added_and_moved(self) -> None:
        job = new_job("Candidate Mover")
        body = AddCandidateBody(new_person(CreatePersonBody(name="Charles Babbage")).data.id)
        added = good(EnvelopeCandidateRead, add_candidate.sync_detailed(job, client=client, body=body), 201).data
        self.assertEqual(added.current_pipeline_stage_name, "Sourced")
        again = good(EnvelopeCandidateRead, add_candidate.sync_detailed(job, client=client, body=body)).data
        self.assertEqual(again.id, added.id)

        move = MoveCandidateBody(stage_name="interview", from_stage_id=added.current_pipeline_stage_id)
        moved = good(EnvelopeCandidateRead, move_candidate.sync_detailed(added.id, client=client, body=move))
        self.assertEqual([stage.stage_name for stage in moved.data.pipeline_stage_history], ["Sourced", "Interview"])
        self.assertEqual(good(EnvelopeCandidateRead, read_candidate.sync_detailed(added.id, client=client)), moved)

        stale = refused(move_candidate.sync_detailed(added.id, client=client, body=move), 409)
        self.assertEqual(stale.code, ErrorAnswerErrorCode.STAGE_CONFLICT)
        self.assertEqual(stale.details[0].record_id, moved.data.current_pipeline_stage_id)

    def test_version_0_creates_a_person(self) -> None:
        body = CreatePersonBodyV0(first_name="Alan", last_name="Turing", email="alan@example.com")
        created = good(EnvelopeV0, create_person_v0.sync_detailed(client=client, body=body), 201).data
        self.assertEqual((created.name, created.candidate_id), ("Alan Turing", ""))

        bad = CreatePersonBodyV0(name="Alan", email="alan@")
        self.assertIn("e-mail", good(ErrorV0, create_person_v0.sync_detailed(client=client, body=bad), 400).error)

    def test_calls_can_be_made_at_once(self) -> None:
        async def create_both() -> list[Response[Any]]:
            async with AuthenticatedClient(URL, token=client.token) as connection:
                bodies = [CreatePersonBody(name=name) for name in ("Mary Somerville", "Sophie Germain")]
                return await asyncio.gather(*(create_person.asyncio_detailed(client=connection, body=body) for body in bodies))

        names = [good(EnvelopePersonCreated, answer, 201).data.name for answer in asyncio.run(create_both())]
        self.assertEqual(names, ["Mary Somerville", "Sophie Germain"])

    def test_events_tell_what_happened(self) -> None:
        job = new_job("Told")
        person = new_person(CreatePersonBody(name="Emmy Noether", job_id=job)).data.id
        after, sequences, more = 0, [], True
        while more:
            page = good(EventPage, list_events.sync_detailed(client=client, after=after, limit=50))
            sequences += [event.sequence for event in page.data]
            after, more = page.meta.next_after, page.meta.has_more
        self.assertEqual(sequences, list(range(1, len(sequences) + 1)))

        timeline = good(TimelinePage, read_person_timeline.sync_detailed(person, client=client)).data
        self.assertEqual({event.type_ for event in timeline}, {"person.created", "candidate.created"})


class Pages(unittest.TestCase):
    def ids_by_offset(self, read: Callable[..., Response[Any]], kind: type[Page]) -> list[str]:
        ids: list[str] = []
        while True:
            page = good(kind, read(client=client, limit=5, offset=len(ids)))
            assert isinstance(page.meta, OffsetMeta)
            if not page.data:
                self.assertEqual(len(ids), page.meta.total)
                return ids
            ids += [item.id for item in page.data]

    def ids_by_cursor(self, read: Callable[..., Response[Any]], kind: type[Page], **filters: Any) -> list[str]:
        ids: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = good(kind, read(client=client, limit=5, cursor=cursor, **filters))
            assert isinstance(page.meta, CursorMeta)
            ids += [item.id for item in page.data]
            cursor = page.meta.next_cursor
        self.assertEqual(len(ids), page.meta.total)
        return ids

    def show_all_once(self, read: Callable[..., Response[Any]], kind: type[Page], made: list[str]) -> None:
        ids = self.ids_by_cursor(read, kind)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(self.ids_by_offset(read, kind), ids)
        self.assertEqual([id for id in ids if id in made], made)

    def test_pages_show_every_job_once(self) -> None:
        made = [new_job(f"Paged {number}") for number in range(23)]
        self.show_all_once(list_jobs.sync_detailed, ListOfJobListItem, made)
        filters = {"q": "paged", "is_archived": False, "sort": ListJobsSort.VALUE_1, "created_after": datetime.date(2026, 1, 1)}
        newest_first = self.ids_by_cursor(list_jobs.sync_detailed, ListOfJobListItem, **filters)
        self.assertEqual(newest_first, made[::-1])

    def test_pages_show_every_candidate_once(self) -> None:
        job = new_job("Many Candidates")
        made = [new_person(CreatePersonBody(name=f"Person {number}", job_id=job)).data.candidate_id for number in range(23)]

        def read(**query: Any) -> Response[Any]:
            return list_candidates.sync_detailed(job, **query)

        self.show_all_once(read, ListOfCandidateListItem, [id for id in made if id is not None])


class Errors(unittest.TestCase):
    def test_a_bad_request_names_every_bad_field(self) -> None:
        error = refused(create_person.sync_detailed(client=client, body=CreatePersonBody(emails=["grace@"])), 400)
        self.assertEqual(error.code, ErrorAnswerErrorCode.INVALID_REQUEST)
        details = [(detail.field, detail.code) for detail in error.details]
        code = ErrorAnswerErrorDetailsItemCode
        self.assertEqual(details, [("name", code.REQUIRED), ("emails[0]", code.INVALID_EMAIL)])

    def test_a_request_without_a_good_key_is_refused(self) -> None:
        with AuthenticatedClient(URL, token="slated_wrong") as stranger:
            self.assertEqual(refused(list_jobs.sync_detailed(client=stranger), 401).code, ErrorAnswerErrorCode.UNAUTHENTICATED)
            self.assertEqual(good(Health, health.sync_detailed(client=stranger)).status, "ok")

    def test_what_is_not_there_is_not_found(self) -> None:
        self.assertEqual(refused(read_person.sync_detailed(f"per_{NOWHERE}", client=client), 404).code, ErrorAnswerErrorCode.NOT_FOUND)
        body = CreateJobBody("Lost", client_company_id=f"cmp_{NOWHERE}")
        self.assertEqual(refused(create_job.sync_detailed(client=client, body=body), 404).details[0].field, "client_company_id")

    def test_a_conflict_names_the_record_in_the_way(self) -> None:
        body = CreatePersonBody(name="Joan Clarke", work_email="joan@example.com")
        made = new_person(body).data.id
        answer = create_person.sync_detailed(client=client, body=body, on_duplicate=CreatePersonOnDuplicate.ERROR)
        error = refused(answer, 409)
        self.assertEqual((error.code, error.details[0].record_id), (ErrorAnswerErrorCode.DUPLICATE_PERSON, made))

    def test_a_write_with_an_old_etag_is_refused_a_read_with_the_current_one_answers_304(self) -> None:
        job = new_job("Versioned")
        tag = read_job.sync_detailed(job, client=client).headers["ETag"]
        unchanged = read_job.sync_detailed(job, client=client, if_none_match=tag)
        self.assertEqual((unchanged.status_code, unchanged.parsed), (304, None))

        def write(name: str) -> Response[Any]:
            return update_job.sync_detailed(job, client=client, body=UpdateJobBody(name=name), if_match=tag)

        good(EnvelopeJobRead, write("Versioned anew"))
        self.assertEqual(refused(write("Too late"), 412).code, ErrorAnswerErrorCode.PRECONDITION_FAILED)


if __name__ == "__main__":
    unittest.main()
