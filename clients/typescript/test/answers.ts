// Holds every answer that a client gets against the document, and gives tests the part of it that they expect.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { createJob, createPerson, type Error as Refusal } from "slated-client";
import { type Client, createClient, createConfig } from "slated-client/client";

const document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8"));
const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, "openapi");

export function connect(auth: string): Client {
  const client = createClient(createConfig({ baseUrl: environment("SLATED_URL"), auth }));
  client.interceptors.response.use(async (response, request, { url }) => {
    const place = ["paths", url, request.method.toLowerCase(), "responses", String(response.status)];
    const documented = place.reduce((part, name) => part?.[name], document);
    assert(documented, `${request.method} ${url} answered ${response.status}, which the document does not have`);
    if (documented.content?.["application/json"]) {
      const pointer = [...place, "content", "application/json", "schema"].map((name) => encodeURIComponent(name.replaceAll("/", "~1")));
      const fits = ajv.getSchema(`openapi#/${pointer.join("/")}`);
      const body = await response.clone().json();
      assert(fits?.(body), `${request.method} ${url}: ${ajv.errorsText(fits?.errors)} in ${JSON.stringify(body)}`);
    }
    return response;
  });
  // Without this a client returns what an interceptor throws as if the server had refused the request.
  client.interceptors.error.use((error) => {
    if (error instanceof Error) throw error;
    return error;
  });
  return client;
}

function environment(name: string): string {
  const value = process.env[name];
  assert(value, `${name} is not set; scripts/clients test sets it`);
  return value;
}

type Answer<Data, Problem> = { data?: Data | undefined; error?: Problem | undefined; response?: Response | undefined };

export async function good<Data>(call: Promise<Answer<{ data: Data }, unknown>>, status = 200): Promise<Data> {
  const { data, error, response } = await call;
  assert.equal(response?.status, status, JSON.stringify(error));
  assert(data);
  return data.data;
}

export async function refused(call: Promise<Answer<unknown, Refusal>>, status: number): Promise<Refusal["error"]> {
  const { error, response } = await call;
  assert.equal(response?.status, status, JSON.stringify(error));
  assert(error);
  assert.equal(error.error.request_id, response.headers.get("x-request-id"));
  return error.error;
}

export async function etag(call: Promise<Answer<unknown, unknown>>): Promise<string> {
  const tag = (await call).response?.headers.get("etag");
  assert(tag, "the answer has no ETag");
  return tag;
}

export const client = connect(environment("SLATED_KEY"));

export function newJob(name: string) {
  return good(createJob({ client, body: { name, client_company_name: "Babbage & Co" } }), 201);
}

export function newPerson(name: string) {
  return good(createPerson({ client, body: { name } }), 201);
}
