import unittest

from answers import URL, Answer, client, good, new_job, refused
from slated_client import AuthenticatedClient
from slated_client.api.jobs import create_job, list_jobs, read_job, update_job
from slated_client.api.operations import health
from slated_client.api.persons import create_person, read_person
from slated_client.models import (
    CreateJobBody,
    CreatePersonBody,
    CreatePersonOnDuplicate,
    Health,
    UpdateJobBody,
)

NOWHERE = "00000000000000000000000000"


class Errors(unittest.TestCase):
    def test_a_bad_request_names_every_bad_field(self) -> None:
        error = refused(create_person.sync_detailed(client=client, body=CreatePersonBody(emails=["grace@"])), 400)
        self.assertEqual(error.code, "INVALID_REQUEST")
        details = [(detail.field, detail.code) for detail in error.details]
        self.assertEqual(details, [("emails[0]", "INVALID_EMAIL")])

    def test_a_request_without_a_good_key_is_refused(self) -> None:
        with AuthenticatedClient(URL, token="slated_wrong") as stranger:
            self.assertEqual(refused(list_jobs.sync_detailed(client=stranger), 401).code, "UNAUTHENTICATED")
            self.assertEqual(health.sync(client=stranger), Health("ok"))

    def test_what_is_not_there_is_not_found(self) -> None:
        self.assertEqual(refused(read_person.sync_detailed(f"per_{NOWHERE}", client=client), 404).code, "NOT_FOUND")
        lost = CreateJobBody("Lost", client_company_id=f"cmp_{NOWHERE}")
        self.assertEqual(refused(create_job.sync_detailed(client=client, body=lost), 404).details[0].field, "client_company_id")

    def test_a_conflict_names_the_record_in_the_way(self) -> None:
        joan = CreatePersonBody(name="Joan Clarke", work_email="joan@example.com")
        made = good(create_person.sync_detailed(client=client, body=joan), 201).id
        error = refused(create_person.sync_detailed(client=client, body=joan, on_duplicate=CreatePersonOnDuplicate.ERROR), 409)
        self.assertEqual((error.code, error.details[0].record_id), ("DUPLICATE_PERSON", made))

    def test_a_write_with_an_old_etag_is_refused_a_read_with_the_current_one_answers_304(self) -> None:
        job = new_job("Versioned")
        tag = read_job.sync_detailed(job, client=client).headers["ETag"]
        unchanged = read_job.sync_detailed(job, client=client, if_none_match=tag)
        self.assertEqual((unchanged.status_code, unchanged.parsed), (304, None))

        def write(name: str) -> Answer[object]:
            return update_job.sync_detailed(job, client=client, body=UpdateJobBody(name=name), if_match=tag)

        self.assertEqual(write("Versioned anew").status_code, 200)
        self.assertEqual(refused(write("Too late"), 412).code, "PRECONDITION_FAILED")
