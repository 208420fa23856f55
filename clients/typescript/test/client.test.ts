import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addCandidate,
  createJob,
  createPerson,
  createPersonV0,
  type EventRead,
  health,
  type JobRead,
  listCandidates,
  listEvents,
  listJobs,
  type ListMeta,
  moveCandidate,
  readCandidate,
  readJob,
  readPerson,
  replaceHistory,
  streamEvents,
  updateJob,
  updatePerson,
} from "slated-client";
import { connect, environment, etag, good, refused } from "./answers.ts";

const client = connect(environment("SLATED_KEY"));
const nowhere = "00000000000000000000000000";

function newJob(name: string): Promise<JobRead> {
  return good(createJob({ client, body: { name, client_company_name: "Babbage & Co" } }), 201);
}

test("a person is created, read, updated and given a history", async () => {
  const body = { name: "Ada Lovelace", work_email: "ada@example.com", mobile_phone: "+44 20 7946 0000", external_source_id: null };
  const created = await good(createPerson({ client, body }), 201);
  assert.deepEqual(created.emails, [{ contact_data_type: "work", value: "ada@example.com" }]);
  assert.equal(created.candidate_id, null);

  const again = await good(createPerson({ client, body: { name: "A. Lovelace", emails: ["ADA@example.com"] } }), 200);
  assert.equal(again.id, created.id);

  const path = { id: created.id };
  const message = await good(updatePerson({ client, path, body: { current_job_title: "Analyst", company_name: "Analytical Engines", phone_numbers: null } }));
  assert.equal(typeof message.message, "string");
  const read = await good(readPerson({ client, path }));
  assert.deepEqual(
    [read.first_name, read.current_job_title, read.current_company_name, read.phones],
    ["Ada", "Analyst", "Analytical Engines", []],
  );

  const position = { title: "Analyst", start_date: "2022-03-01" };
  const education_experience = [{ company_name: "University of London", degree: "Mathematics" }];
  const certifications = [{ name: "Certified Analyst", start_date: "2021-01-01" }];
  const work_experience = [{ company_name: "Analytical Engines", positions: [position] }];
  const history = await good(replaceHistory({ client, path, body: { work_experience, education_experience, certifications } }));
  assert.equal(history.work_experience[0]?.positions[0]?.end_date, null);
  assert.equal(history.certifications[0]?.end_date, "");
});

test("a job is created once for each key, read and updated", async () => {
  const headers = { "Idempotency-Key": "chief-analyst" };
  const body = { name: "Chief Analyst", client_company_name: "Babbage & Co", pipeline_stages: [{ name: "Applied" }, { name: "Hired" }] };
  const created = await good(createJob({ client, headers, body }), 201);
  assert.deepEqual(await good(createJob({ client, headers, body }), 201), created);
  const path = { id: created.id };
  assert.deepEqual(await good(readJob({ client, path })), created);
  const updated = await good(updateJob({ client, path, body: { job_status_name: "On hold", is_archived: true } }));
  assert.deepEqual([updated.job_status_name, updated.is_archived], ["On hold", true]);
});

test("a candidate is added and moved", async () => {
  const job = await newJob("Candidate Mover");
  const person = await good(createPerson({ client, body: { name: "Charles Babbage" } }), 201);
  const body = { person_id: person.id };
  const added = await good(addCandidate({ client, path: { id: job.id }, body }), 201);
  assert.equal(added.current_pipeline_stage_name, "Sourced");
  assert.equal((await good(addCandidate({ client, path: { id: job.id }, body }))).id, added.id);

  const path = { id: added.id };
  const moved = await good(moveCandidate({ client, path, body: { stage_name: "interview", from_stage_id: added.current_pipeline_stage_id } }));
  assert.deepEqual(moved.pipeline_stage_history.map((stage) => stage.stage_name), ["Sourced", "Interview"]);
  assert.deepEqual(await good(readCandidate({ client, path })), moved);
  assert.equal((await good(readPerson({ client, path: { id: person.id } }))).jobs[0]?.current_pipeline_stage_name, "Interview");
});

test("version 0 creates a person", async () => {
  const body = { first_name: "Alan", last_name: "Turing", email: "alan@example.com" };
  const created = await good(createPersonV0({ client, body }), 201);
  assert.deepEqual([created.name, created.candidate_id], ["Alan Turing", ""]);

  const { data, error, response } = await createPersonV0({ client, body: { name: "Alan", email: "alan@" } });
  assert.equal(response?.status, 400);
  assert.equal(data, undefined);
  assert.match(error?.error ?? "", /e-mail/);
});

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

test("a bad request names every bad field", async () => {
  // @ts-expect-error: there is no field nmae
  const error = await refused(createPerson({ client, body: { name: "Grace Hopper", emails: ["grace@"], nmae: "" } }), 400);
  assert.equal(error.code, "INVALID_REQUEST");
  assert.deepEqual(
    error.details.map(({ field, code }) => ({ field, code })),
    [{ field: "emails[0]", code: "INVALID_EMAIL" }, { field: "nmae", code: "UNKNOWN_FIELD" }],
  );

  // @ts-expect-error: a name is needed
  assert.equal((await refused(createPerson({ client, body: { work_phone: "123" } }), 400)).details[0]?.code, "REQUIRED");
  assert.equal((await refused(listJobs({ client, query: { limit: 1000 } }), 400)).details[0]?.code, "OUT_OF_RANGE");
});

test("a request without a good key is refused", async () => {
  assert.equal((await refused(listJobs({ client: connect("slated_wrong") }), 401)).code, "UNAUTHENTICATED");
  assert.deepEqual((await health({ client: connect("") })).data, { status: "ok" });
});

test("what is not there is not found", async () => {
  assert.equal((await refused(readPerson({ client, path: { id: `per_${nowhere}` } }), 404)).code, "NOT_FOUND");
  const body = { name: "Lost", client_company_id: `cmp_${nowhere}` };
  assert.equal((await refused(createJob({ client, body }), 404)).details[0]?.field, "client_company_id");
});

test("a conflict names the record in the way", async () => {
  const body = { name: "Joan Clarke", work_email: "joan@example.com" };
  const { id } = await good(createPerson({ client, body }), 201);
  const duplicate = await refused(createPerson({ client, body, query: { on_duplicate: "error" } }), 409);
  assert.equal(duplicate.code, "DUPLICATE_PERSON");
  assert.equal(duplicate.details[0]?.record_id, id);
});

test("a write with an old ETag is refused, a read with the current one answers 304", async () => {
  const { id } = await newJob("Versioned");
  const path = { id };
  const tag = await etag(readJob({ client, path }));
  const unchanged = await readJob({ client, path, headers: { "If-None-Match": tag } });
  assert.deepEqual([unchanged.response?.status, unchanged.data], [304, undefined]);

  const write = (name: string) => updateJob({ client, path, body: { name }, headers: { "If-Match": tag } });
  assert.notEqual(await etag(write("Versioned anew")), tag);
  assert.equal((await refused(write("Too late"), 412)).code, "PRECONDITION_FAILED");
  assert.equal((await good(readJob({ client, path }))).name, "Versioned anew");
});

test("the feed and the stream tell the same events", async () => {
  const job = await newJob("Told");
  const feed: EventRead[] = [];
  for (let after = 0, more = true; more; ) {
    const { data } = await listEvents({ client, query: { after, limit: 50 }, throwOnError: true });
    feed.push(...data.data);
    ({ next_after: after, has_more: more } = data.meta);
  }
  assert.deepEqual(feed.map((event) => event.sequence), feed.map((_, index) => index + 1));
  const last = feed.findLast((event) => event.record_id === job.id);
  assert.equal(last?.type, "job.created");

  const end = new AbortController();
  const { stream } = await streamEvents({ client, query: { after: last.sequence - 1 }, signal: end.signal });
  // The document says no more of the stream than that it is text; the client reads the JSON in it.
  for await (const event of stream as AsyncIterable<unknown>) {
    assert.deepEqual(event, last);
    break;
  }
  end.abort();
});
