"""Holds the running server against its own OpenAPI document with Schemathesis: all phases, all checks.

    scripts/conformance.py PROGRAM [--seed N] [--examples N]

Values that name records (a status, a client, a stage) are given, since no schema can say which ones a workspace has. Webhooks lead
to hosts that cannot exist, so that nobody is called. The stream of events is left out: it does not end.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

CONFIG = """
headers = {{ Authorization = "Bearer {key}" }}

# 412 is the documented answer to a well-formed If-Match of an older version, 410 to the id of a person who was erased.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "410", "412", "429", "5xx"]

# An If-Match is looked at before what the body says of records.
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "410", "412", "415", "422", "428", "429", "5xx"]

[[operations]]
include-operation-id = "streamEvents"
enabled = false

[[operations]]
include-operation-id = "listJobs"
parameters = {{ "query.status" = "Open", "query.client_company_id" = "{client}" }}

[[operations]]
include-operation-id = "listCompanyJobs"
parameters = {{ "path.id" = "{client}", "query.status" = "Open" }}

# The key that all this is done with must go on working.
[[operations]]
include-operation-id = "rotateKey"
parameters = {{ "path.id" = "{spare}" }}

[[operations]]
include-operation-id = "revokeKey"
enabled = false

[[operations]]
include-operation-id = "listPersons"
parameters = {{ "query.company_id" = "{client}", "query.job_id" = "{job}" }}

[[operations]]
include-operation-id = "listAllCandidates"
parameters = {{ "query.job_id" = "{job}", "query.person_id" = "{person}", "query.stage_id" = "{stage}", "query.stage_name" = "Sourced" }}

# The person that others are asked about must go on being there.
[[operations]]
include-operation-id = "erasePerson"
parameters = {{ "path.id" = "{nobody}" }}

# A status that others are asked for must keep its name.
[[operations]]
include-operation-id = "updateJobStatus"
parameters = {{ "path.id" = "{status}" }}

# Stages that others are asked for must keep their names.
[[operations]]
include-operation-id = "updateStage"
parameters = {{ "path.id" = "{other}" }}

[[operations]]
include-operation-id = "removeStage"
parameters = {{ "path.id" = "{other}" }}

# The pattern of the address below is ours, so that nobody is called; the server takes more.
[[operations]]
include-operation-id = "createWebhook"
checks = {{ negative_data_rejection.enabled = false }}

[[operations]]
include-operation-id = "updateWebhook"
checks = {{ negative_data_rejection.enabled = false }}

# A person is there before anybody asked to enrich them.
[[operations]]
include-operation-id = "readEnrichment"
checks = {{ ensure_resource_availability.enabled = false }}

[[operations]]
include-operation-id = "listCandidates"
parameters = {{ "path.id" = "{job}", "query.stage_id" = "{stage}", "query.stage_name" = "Sourced" }}
"""


# A schema cannot say that a moment is in the future.
SOME_DAY = r"^(2[1-9][0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8]))?$"
NOWHERE = r"^https?://[a-z]{1,20}\.invalid(:[1-9][0-9]{0,3})?(/[A-Za-z0-9/_.-]*)?$"


class Server:
    def __init__(self, program, directory):
        database = f"sqlite:{directory}/slated.db"
        create = [program, "key", "create", "--name", "conformance", "--scope", "admin", "--database", database]
        self.key = subprocess.run(create, check=True, capture_output=True, text=True).stdout.strip()
        self.log = open(f"{directory}/log", "w+")
        serve = [program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--log", "info"]
        self.process = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.address = self.wait_for_address()
        # From here on the log goes to its file, and the pipe never fills.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=self.log)

    def wait_for_address(self):
        for line in self.process.stderr:
            fields = json.loads(line)["fields"] if line.startswith("{") else {}
            if fields.get("message") == "listening":
                return fields["listen.address"]
        raise SystemExit("the server did not start")

    def post(self, path, body):
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"http://{self.address}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["data"]

    def document(self):
        with urllib.request.urlopen(f"http://{self.address}/openapi.json") as answer:
            document = json.load(answer)
        # Nor that what stands beside the id of a job must be true of it.
        text = {"type": "string", "pattern": "[^ ]"}
        both = [{"required": ["job_id", name], "properties": {"job_id": text, name: text}} for name in ["job_name", "client_id", "client_name"]]
        for body in ["CreatePersonBody", "CreatePersonBodyV0"]:
            document["components"]["schemas"][body]["not"] = {"anyOf": both}
        # Nor that what is wrong with a row is told in its place in the answer, which is 200.
        rows = document["components"]["schemas"]["CreatePersonsBody"]["properties"]["persons"]
        rows["items"] = {"anyOf": [rows["items"], {}]}
        for body in ["CreateWebhookBody", "UpdateWebhookBody"]:
            document["components"]["schemas"][body]["properties"]["url"]["pattern"] = NOWHERE
        expiry = {"type": ["string", "null"], "pattern": SOME_DAY}
        document["components"]["schemas"]["CreateKeyBody"]["properties"]["expires_at"] = expiry
        return document

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.drain.wait()
        self.log.seek(0)
        return [line for line in self.log if '"level":"ERROR"' in line]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--seed", default="1815")
    arguments.add_argument("--examples", default="30")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(given.program, directory)
        job = server.post("/v1/jobs", {"name": "Chief Analyst", "client_company_name": "Babbage & Co"})
        person = server.post("/v1/persons", {"name": "Ada Lovelace", "work_email": "ada@example.com", "job_id": job["id"]})["id"]
        nobody = server.post("/v1/persons", {"name": "Nobody"})["id"]
        status = server.post("/v1/job-statuses", {"name": "Paused"})["id"]
        spare = server.post("/v1/keys", {"name": "spare", "scope": "read"})["id"]
        config = pathlib.Path(directory, "schemathesis.toml")
        stage = job["pipeline_stages"][0]["id"]
        other = server.post("/v1/jobs", {"name": "Engineer", "client_company_name": "Babbage & Co"})["id"]
        known = {"client": job["client_company_id"], "job": job["id"], "other": other, "stage": stage, "person": person, "nobody": nobody, "status": status, "spare": spare}
        config.write_text(CONFIG.format(key=server.key, **known))
        program = pathlib.Path(sys.executable).with_name("schemathesis")
        document = pathlib.Path(directory, "openapi.json")
        document.write_text(json.dumps(server.document()))
        options = ["--url", f"http://{server.address}", "--checks", "all", "--seed", given.seed, "--max-examples", given.examples, "--continue-on-failure"]
        run = subprocess.run([program, "--config-file", config, "run", document, *options], env={**os.environ, "NO_COLOR": "1"})
        errors = server.stop()
    for line in errors:
        print("the server logged an error:", line.strip())
    return run.returncode or (1 if errors else 0)


if __name__ == "__main__":
    sys.exit(main())
