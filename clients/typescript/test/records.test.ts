import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addCandidate,
  addNote,
  createCompany,
  createJob,
  createKey,
  createPerson,
  createPersons,
  createPersonV0,
  deleteNote,
  type EventRead,
  listCompanyJobs,
  listEvents,
  listNotes,
  listPersons,
  mergePersons,
  moveCandidate,
  readCandidate,
  readJob,
  readMe,
  readPerson,
  replaceHistory,
  revokeKey,
  streamEvents,
  updateCompany,
  updateJob,
  updateNote,
  updatePerson,
} from "slated-client";
import { client, connect, good, newJob, newPerson, refused } from "./answers.ts";

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
  const person = await newPerson("Charles Babbage");
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

test("a note is written, changed and deleted", async () => {
  const { id } = await newPerson("Mary Somerville");
  const note = await good(addNote({ client, path: { id }, body: { body: "Met at the fair." } }), 201);
  const path = { id, note_id: note.id };
  const changed = await good(updateNote({ client, path, body: { body: "Met at the fair.\nWants to move." } }));
  assert.deepEqual(await good(listNotes({ client, path: { id } })), [changed]);
  assert.deepEqual((await good(readPerson({ client, path: { id }, query: { include: "notes" } }))).notes, [changed]);
  await good(deleteNote({ client, path }));
  assert.deepEqual(await good(listNotes({ client, path: { id } })), []);
});

test("many persons are created at once, each with an answer of its own", async () => {
  const persons = [{ name: "Emmy Noether" }, { name: "Nobody", work_email: "nobody@" }];
  const [made, bad] = await good(createPersons({ client, body: { persons } }));
  assert.deepEqual([made?.status, made?.data?.name, made?.error], [201, "Emmy Noether", null]);
  assert.deepEqual([bad?.status, bad?.data, bad?.error?.details[0]?.field], [400, null, "work_email"]);
});

test("what a match keeps back is told", async () => {
  const person = { name: "Mary Somerville", external_source_id: "client-test-mary" };
  await good(createPerson({ client, body: person }), 201);
  const query = { include: "changes" } as const;
  const { data, response } = await createPerson({ client, body: { ...person, name: "M. Somerville" }, query, throwOnError: true });
  assert.equal(response.headers.get("x-matched-by"), "external_source_id");
  assert.ok(data.changes && !Array.isArray(data.changes));
  assert.deepEqual(data.changes.kept_back.map(({ field, current }) => [field, current]), [["name", "Mary Somerville"]]);
});

test("a write can be tried out", async () => {
  const { data } = await createPerson({ client, body: { name: "Tried Out" }, query: { dry_run: true }, throwOnError: true });
  assert.ok(Array.isArray(data.changes));
  assert.deepEqual(data.changes.map((change) => change.type), ["person.created"]);
  assert.deepEqual(await good(listPersons({ client, query: { q: "Tried Out" } })), []);
});

test("a person who was merged into another is found there", async () => {
  const kept = await newPerson("Sophie Germain");
  const other = await newPerson("S. Germain");
  await good(mergePersons({ client, path: { id: kept.id }, body: { person_id: other.id } }));
  const { data } = await readPerson({ client, path: { id: other.id }, throwOnError: true });
  assert.deepEqual([data.data.id, data.merged_into], [kept.id, kept.id]);
});

test("a company is created once, renamed and lists its jobs", async () => {
  const created = await good(createCompany({ client, body: { name: "Difference Engines" } }), 201);
  const path = { id: created.id };
  assert.equal((await good(createCompany({ client, body: { name: "difference  engines" } }))).id, created.id);
  assert.equal((await good(updateCompany({ client, path, body: { name: "Engines & Co" } }))).name, "Engines & Co");
  const job = await good(createJob({ client, body: { name: "Engineer", client_company_id: created.id } }), 201);
  assert.deepEqual((await good(listCompanyJobs({ client, path }))).map((item) => item.id), [job.id]);
});

test("a key is made, is refused what it may not do, and is revoked", async () => {
  const made = await good(createKey({ client, body: { name: "reader", scope: "read" } }), 201);
  assert(made.key);
  const reader = connect(made.key);
  assert.equal((await good(readMe({ client: reader }))).key.id, made.id);
  assert.equal((await refused(createPerson({ client: reader, body: { name: "Not Written" } }), 403)).code, "FORBIDDEN");
  assert.notEqual((await good(revokeKey({ client, path: { id: made.id } }))).revoked_at, null);
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
