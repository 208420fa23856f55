import datetime
import unittest
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from answers import Answer, body, client, good, new_job, new_person
from slated_client.api.candidates import list_candidates
from slated_client.api.jobs import list_jobs
from slated_client.api.persons import create_person, list_persons
from slated_client.models import CreatePersonBody, CursorMeta, ErrorAnswer, ListJobsSort, ListPersonsSort, OffsetMeta


class Item(Protocol):
    id: str


class Page(Protocol):
    @property
    def data(self) -> Sequence[Item]: ...
    @property
    def meta(self) -> OffsetMeta | CursorMeta: ...


List = Callable[..., Answer[Page | ErrorAnswer]]


class Pages(unittest.TestCase):
    def ids_by_offset(self, read: List) -> list[str]:
        ids: list[str] = []
        while True:
            page = body(read(client=client, limit=5, offset=len(ids)))
            assert isinstance(page.meta, OffsetMeta)
            if not page.data:
                self.assertEqual(len(ids), page.meta.total)
                return ids
            ids += [item.id for item in page.data]

    def ids_by_cursor(self, read: List, **filters: Any) -> list[str]:
        ids: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = body(read(client=client, limit=5, cursor=cursor, **filters))
            assert isinstance(page.meta, CursorMeta)
            ids += [item.id for item in page.data]
            cursor = page.meta.next_cursor
        self.assertEqual(len(ids), page.meta.total)
        return ids

    def show_all_once(self, read: List, made: list[str]) -> None:
        ids = self.ids_by_cursor(read)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(self.ids_by_offset(read), ids)
        self.assertEqual([id for id in ids if id in made], made)

    def test_pages_show_every_job_once(self) -> None:
        made = [new_job(f"Paged {number}") for number in range(23)]
        self.show_all_once(list_jobs.sync_detailed, made)
        since = datetime.date(2026, 1, 1)
        newest_first = self.ids_by_cursor(list_jobs.sync_detailed, q="paged", is_archived=False, created_after=since, sort=ListJobsSort("-created_at"))
        self.assertEqual(newest_first, made[::-1])

    def test_pages_show_every_candidate_once(self) -> None:
        job = new_job("Many Candidates")
        made: list[str] = []
        for number in range(23):
            person = CreatePersonBody(name=f"Person {number}", job_id=job)
            candidate = good(create_person.sync_detailed(client=client, body=person), 201).candidate_id
            assert candidate is not None
            made.append(candidate)
        self.show_all_once(lambda **query: list_candidates.sync_detailed(job, **query), made)

    def test_pages_show_every_person_once(self) -> None:
        made = [new_person(f"Listed {number}") for number in range(13)]
        self.show_all_once(list_persons.sync_detailed, made)
        newest_first = self.ids_by_cursor(list_persons.sync_detailed, q="listed", sort=ListPersonsSort("-created_at"))
        self.assertEqual(newest_first, made[::-1])
