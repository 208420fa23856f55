import assert from "node:assert/strict";
import { test } from "node:test";
import { createJob, createPerson, health, listJobs, readJob, readPerson, updateJob } from "slated-client";
import { client, connect, etag, good, newJob, refused } from "./answers.ts";

const nowhere = "00000000000000000000000000";

test("a bad request names every bad field", async () => {
  // @ts-expect-error: there is no field nmae
  const error = await refused(createPerson({ client, body: { name: "Grace Hopper", emails: ["grace@"], nmae: "" } }), 400);
  assert.equal(error.code, "INVALID_REQUEST");
  assert.deepEqual(
    error.details.map(({ field, code }) => ({ field, code })),
    [{ field: "emails[0]", code: "INVALID_EMAIL" }, { field: "nmae", code: "UNKNOWN_FIELD" }],
  );

  // @ts-expect-error: a name is needed
  assert.equal((await refused(createPerson({ client, body: { current_job_title: "Admiral" } }), 400)).details[0]?.code, "REQUIRED");
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
