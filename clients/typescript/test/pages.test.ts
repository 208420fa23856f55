import assert from "node:assert/strict";
import { test } from "node:test";
import { createPerson, listCandidates, listJobs, type ListMeta, listPersons } from "slated-client";
import { client, good, newJob, newPerson } from "./answers.ts";

type Page = { data: { data: { id: string }[]; meta: ListMeta } };
type List = (query: { limit: number; offset?: number; cursor?: string }) => Promise<Page>;

async function idsByOffset(list: List, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const { data, meta } = (await list({ limit, offset: ids.length })).data;
    assert("offset" in meta && meta.offset === ids.length);
    if (data.length === 0) {
      assert.equal(ids.length, meta.total);
      return ids;
    }
    ids.push(...data.map((item) => item.id));
  }
}

async function idsByCursor(list: List, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: Page = await list({ limit, cursor });
    const { data, meta } = page.data;
    assert("next_cursor" in meta);
    ids.push(...data.map((item) => item.id));
    cursor = meta.next_cursor;
    if (cursor === null) assert.equal(ids.length, meta.total);
  }
  return ids;
}

async function showsAllOnce(list: List, made: string[]): Promise<void> {
  const byCursor = await idsByCursor(list, 5);
  assert.equal(new Set(byCursor).size, byCursor.length);
  assert.deepEqual(await idsByOffset(list, 5), byCursor);
  assert.deepEqual(byCursor.filter((id) => made.includes(id)), made);
}

test("pages show every job once", async () => {
  const made: string[] = [];
  for (let number = 0; number < 23; number++) made.push((await newJob(`Paged ${number}`)).id);
  await showsAllOnce((query) => listJobs({ client, query, throwOnError: true }), made);
  const newest: List = (query) => listJobs({ client, query: { ...query, q: "paged", is_archived: false, sort: "-created_at" }, throwOnError: true });
  assert.deepEqual(await idsByCursor(newest, 7), made.toReversed());
});

test("pages show every candidate once", async () => {
  const { id } = await newJob("Many Candidates");
  const made: string[] = [];
  for (let number = 0; number < 23; number++) {
    const person = await good(createPerson({ client, body: { name: `Person ${number}`, job_id: id } }), 201);
    assert(person.candidate_id);
    made.push(person.candidate_id);
  }
  await showsAllOnce((query) => listCandidates({ client, path: { id }, query, throwOnError: true }), made);
});

test("pages show every person once", async () => {
  const made: string[] = [];
  for (let number = 0; number < 13; number++) made.push((await newPerson(`Listed ${number}`)).id);
  await showsAllOnce((query) => listPersons({ client, query, throwOnError: true }), made);
  const newest: List = (query) => listPersons({ client, query: { ...query, q: "listed", sort: "-created_at" }, throwOnError: true });
  assert.deepEqual(await idsByCursor(newest, 5), made.toReversed());
});
