import asyncio
import datetime
import unittest

from answers import URL, body, client, good, new_job, new_person, refused
from slated_client import AuthenticatedClient
from slated_client.api.candidates import add_candidate, move_candidate, read_candidate
from slated_client.api.companies import create_company, list_company_jobs, update_company
from slated_client.api.events import list_events, read_person_timeline
from slated_client.api.jobs import create_job, read_job, update_job
from slated_client.api.keys import create_key, read_me, revoke_key
from slated_client.api.persons import (
    add_note,
    create_person,
    create_person_v0,
    create_persons,
    delete_note,
    list_notes,
    list_persons,
    merge_persons,
    read_person,
    replace_history,
    update_note,
    update_person,
)
from slated_client.models import (
    AddCandidateBody,
    CertificationInput,
    ContactDataType,
    CreateCompanyBody,
    CreateJobBody,
    CreateKeyBody,
    CreateKeyBodyScope,
    CreatePersonBody,
    CreatePersonBodyV0,
    CreatePersonsBody,
    ErrorV0,
    MergePersonsBody,
    MoveCandidateBody,
    NewStageBody,
    NoteBody,
    PositionInput,
    ReplaceHistoryBody,
    UpdateCompanyBody,
    UpdateJobBody,
    UpdatePersonBody,
    WorkExperienceInput,
)


class Records(unittest.TestCase):
    def test_a_person_is_created_read_updated_and_given_a_history(self) -> None:
        ada = CreatePersonBody(name="Ada Lovelace", work_email="ada@example.com", mobile_phone="+44 20 7946 0000")
        created = good(create_person.sync_detailed(client=client, body=ada), 201)
        self.assertEqual([(entry.contact_data_type, entry.value) for entry in created.emails], [(ContactDataType.WORK, "ada@example.com")])
        self.assertIsNone(created.candidate_id)

        same = CreatePersonBody(name="A. Lovelace", emails=["ADA@example.com"])
        self.assertEqual(good(create_person.sync_detailed(client=client, body=same)).id, created.id)

        change = UpdatePersonBody(current_job_title="Analyst", company_name="Analytical Engines", phone_numbers=None)
        good(update_person.sync_detailed(created.id, client=client, body=change))
        read = good(read_person.sync_detailed(created.id, client=client))
        self.assertEqual((read.first_name, read.current_job_title, read.current_company_name), ("Ada", "Analyst", "Analytical Engines"))
        self.assertEqual(read.phones, [])

        position = PositionInput(title="Analyst", start_date=datetime.date(2022, 3, 1))
        history = ReplaceHistoryBody(
            work_experience=[WorkExperienceInput(company_name="Analytical Engines", positions=[position])],
            certifications=[CertificationInput(name="Certified Analyst")],
        )
        written = good(replace_history.sync_detailed(created.id, client=client, body=history))
        self.assertEqual(written.work_experience[0].positions[0].start_date, "2022-03-01")
        self.assertIsNone(written.work_experience[0].positions[0].end_date)
        self.assertEqual(written.certifications[0].start_date, "")

    def test_a_job_is_created_once_for_each_key_read_and_updated(self) -> None:
        job = CreateJobBody("Chief Analyst", client_company_name="Babbage & Co", pipeline_stages=[NewStageBody("Applied"), NewStageBody("Hired")])
        created = good(create_job.sync_detailed(client=client, body=job, idempotency_key="chief-analyst"), 201)
        self.assertEqual(good(create_job.sync_detailed(client=client, body=job, idempotency_key="chief-analyst"), 201), created)
        self.assertEqual(good(read_job.sync_detailed(created.id, client=client)), created)
        self.assertEqual(created.created_at.utcoffset(), datetime.timedelta(0))

        change = UpdateJobBody(job_status_name="On hold", is_archived=True)
        updated = good(update_job.sync_detailed(created.id, client=client, body=change))
        self.assertEqual((updated.job_status_name, updated.is_archived), ("On hold", True))

    def test_a_candidate_is_added_and_moved(self) -> None:
        job = new_job("Candidate Mover")
        person = AddCandidateBody(new_person("Charles Babbage"))
        added = good(add_candidate.sync_detailed(job, client=client, body=person), 201)
        self.assertEqual(added.current_pipeline_stage_name, "Sourced")
        self.assertEqual(good(add_candidate.sync_detailed(job, client=client, body=person)).id, added.id)

        move = MoveCandidateBody(stage_name="interview", from_stage_id=added.current_pipeline_stage_id)
        moved = good(move_candidate.sync_detailed(added.id, client=client, body=move))
        self.assertEqual([stage.stage_name for stage in moved.pipeline_stage_history], ["Sourced", "Interview"])
        self.assertEqual(good(read_candidate.sync_detailed(added.id, client=client)).to_dict(), moved.to_dict())

        stale = refused(move_candidate.sync_detailed(added.id, client=client, body=move), 409)
        self.assertEqual(stale.code, "STAGE_CONFLICT")
        self.assertEqual(stale.details[0].record_id, moved.current_pipeline_stage_id)

    def test_version_0_creates_a_person(self) -> None:
        alan = CreatePersonBodyV0(first_name="Alan", last_name="Turing", email="alan@example.com")
        created = good(create_person_v0.sync_detailed(client=client, body=alan), 201)
        self.assertEqual((created.name, created.candidate_id), ("Alan Turing", ""))

        bad = create_person_v0.sync_detailed(client=client, body=CreatePersonBodyV0(name="Alan", email="alan@"))
        assert bad.status_code == 400 and isinstance(bad.parsed, ErrorV0), bad.content
        self.assertIn("e-mail", bad.parsed.error)

    def test_a_note_is_written_changed_and_deleted(self) -> None:
        person = new_person("Mary Somerville")
        note = good(add_note.sync_detailed(person, client=client, body=NoteBody("Met at the fair.")), 201).id
        good(update_note.sync_detailed(person, note, client=client, body=NoteBody("Met at the fair.\nWants to move.")))
        self.assertEqual([note.body for note in good(list_notes.sync_detailed(person, client=client))], ["Met at the fair.\nWants to move."])
        good(delete_note.sync_detailed(person, note, client=client))
        self.assertEqual(good(list_notes.sync_detailed(person, client=client)), [])

    def test_many_persons_are_created_at_once_each_with_an_answer_of_its_own(self) -> None:
        persons = [CreatePersonBody(name="Emmy Noether"), CreatePersonBody(name="Nobody", work_email="nobody@")]
        made, bad = good(create_persons.sync_detailed(client=client, body=CreatePersonsBody(persons)))
        assert made.data is not None and bad.error is not None
        self.assertEqual((made.status, made.data.name, made.error), (201, "Emmy Noether", None))
        self.assertEqual((bad.status, bad.data, bad.error.details[0].field), (400, None, "work_email"))

    def test_a_write_can_be_tried_out(self) -> None:
        tried = body(create_person.sync_detailed(client=client, body=CreatePersonBody(name="Tried Out"), dry_run=True), 201)
        assert isinstance(tried.changes, list)
        self.assertEqual([change.type_ for change in tried.changes], ["person.created"])
        self.assertEqual(good(list_persons.sync_detailed(client=client, q="Tried Out")), [])

    def test_a_person_who_was_merged_into_another_is_found_there(self) -> None:
        kept, other = new_person("Sophie Germain"), new_person("S. Germain")
        good(merge_persons.sync_detailed(kept, client=client, body=MergePersonsBody(other)))
        found = body(read_person.sync_detailed(other, client=client))
        self.assertEqual((found.data.id, found.merged_into), (kept, kept))

    def test_a_company_is_created_once_renamed_and_lists_its_jobs(self) -> None:
        company = good(create_company.sync_detailed(client=client, body=CreateCompanyBody("Difference Engines")), 201).id
        again = good(create_company.sync_detailed(client=client, body=CreateCompanyBody("difference  engines")))
        self.assertEqual(again.id, company)
        renamed = good(update_company.sync_detailed(company, client=client, body=UpdateCompanyBody("Engines & Co")))
        self.assertEqual(renamed.name, "Engines & Co")
        job = good(create_job.sync_detailed(client=client, body=CreateJobBody("Engineer", client_company_id=company)), 201)
        self.assertEqual([item.id for item in good(list_company_jobs.sync_detailed(company, client=client))], [job.id])

    def test_a_key_is_made_is_refused_what_it_may_not_do_and_is_revoked(self) -> None:
        made = good(create_key.sync_detailed(client=client, body=CreateKeyBody("reader", CreateKeyBodyScope.READ)), 201)
        assert isinstance(made.key, str)
        with AuthenticatedClient(URL, token=made.key) as reader:
            self.assertEqual(good(read_me.sync_detailed(client=reader)).key.id, made.id)
            answer = create_person.sync_detailed(client=reader, body=CreatePersonBody(name="Not Written"))
            self.assertEqual(refused(answer, 403).code, "FORBIDDEN")
        self.assertIsNotNone(good(revoke_key.sync_detailed(made.id, client=client)).revoked_at)

    def test_calls_can_be_made_at_once(self) -> None:
        async def create_both() -> list[str]:
            async with AuthenticatedClient(URL, token=client.token) as connection:
                persons = [CreatePersonBody(name=name) for name in ("Hedy Lamarr", "Grace Hopper")]
                calls = [create_person.asyncio_detailed(client=connection, body=person) for person in persons]
                return [good(answer, 201).name for answer in await asyncio.gather(*calls)]

        self.assertEqual(asyncio.run(create_both()), ["Hedy Lamarr", "Grace Hopper"])

    def test_events_tell_what_happened(self) -> None:
        person = CreatePersonBody(name="Maria Mitchell", job_id=new_job("Told"))
        created = good(create_person.sync_detailed(client=client, body=person), 201)
        after, more, sequences = 0, True, []
        while more:
            page = body(list_events.sync_detailed(client=client, after=after, limit=50))
            sequences += [event.sequence for event in page.data]
            after, more = page.meta.next_after, page.meta.has_more
        self.assertEqual(sequences, list(range(1, len(sequences) + 1)))

        timeline = good(read_person_timeline.sync_detailed(created.id, client=client))
        self.assertEqual({event.type_ for event in timeline}, {"person.created", "candidate.created"})
