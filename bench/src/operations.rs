//! What is asked of the server, and the scripts with which wrk asks it. A script makes as much as
//! it can of its requests before the clock starts, since client and server share the machine.

use std::fmt::Write;

use crate::sample::Sample;

/// Stands in a body for digits that differ in every request.
const TAG: &str = "{tag}";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    Bare,
    BareRow,
    BareRead,
    BareInsert,
    BareInsertOfPerson,
    CreatePerson,
    CreatePersonVersion0,
    ReadPerson,
    UpdatePerson,
    ReadCandidate,
    FirstPage,
    LastPage,
    ReadJob,
    ListJobs,
    MoveCandidate,
    FeedFirst,
    FeedLast,
}

impl Subject {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare answer",
            Self::BareRow => "bare query of one row",
            Self::BareRead => "bare query of the read",
            Self::BareInsert => "bare durable insert",
            Self::BareInsertOfPerson => "bare insert of a person",
            Self::CreatePerson => "create person v1",
            Self::CreatePersonVersion0 => "create person v0",
            Self::ReadPerson => "read person",
            Self::UpdatePerson => "update person",
            Self::ReadCandidate => "read candidate",
            Self::FirstPage => "list candidates, first page",
            Self::LastPage => "list candidates, last page",
            Self::ReadJob => "read job",
            Self::ListJobs => "list jobs",
            Self::MoveCandidate => "stage move",
            Self::FeedFirst => "feed, first page of 1,000",
            Self::FeedLast => "feed, last page of 1,000",
        }
    }

    pub const fn is_read(self) -> bool {
        matches!(
            self,
            Self::ReadPerson
                | Self::ReadCandidate
                | Self::FirstPage
                | Self::LastPage
                | Self::ReadJob
                | Self::ListJobs
        )
    }

    /// The part of the bare answer's rate that is asked for at least.
    pub const fn least_of_bare(self) -> Option<f64> {
        match self {
            Self::ReadPerson | Self::ReadCandidate | Self::ReadJob => Some(0.40),
            Self::CreatePerson | Self::CreatePersonVersion0 | Self::UpdatePerson => Some(0.25),
            Self::FirstPage | Self::LastPage => Some(0.055),
            Self::Bare
            | Self::BareRow
            | Self::BareRead
            | Self::BareInsert
            | Self::BareInsertOfPerson
            | Self::ListJobs
            | Self::MoveCandidate
            | Self::FeedFirst
            | Self::FeedLast => None,
        }
    }
}

pub struct Operation {
    pub subject: Subject,
    pub method: &'static str,
    /// Asked for one after the other.
    pub paths: Vec<String>,
    /// None for a read. Of several, one goes with each round through the paths; a warm-up takes the
    /// first half of them.
    pub bodies: Vec<String>,
}

pub fn bare() -> Operation {
    read(Subject::Bare, vec!["/healthz".to_owned()])
}

/// Reads first, since writes change what is read.
pub fn operations(sample: &Sample) -> Vec<Operation> {
    let page = format!("/v1/jobs/{}/candidates", sample.job);
    let last = (sample.candidates_of_job - 100).max(0);
    vec![
        read(Subject::ReadPerson, under("/v1/persons/", &sample.persons)),
        read(Subject::ReadCandidate, under("/v1/candidates/", &sample.candidates)),
        read(Subject::ReadJob, under("/v1/jobs/", &sample.jobs)),
        read(Subject::ListJobs, vec!["/v1/jobs".to_owned()]),
        read(Subject::FirstPage, vec![page.clone()]),
        read(Subject::LastPage, vec![format!("{page}?offset={last}&limit=100")]),
        write(
            Subject::UpdatePerson,
            "PATCH",
            under("/v1/persons/", &sample.persons),
            vec![update_body()],
        ),
        write(Subject::CreatePerson, "POST", vec!["/v1/persons".to_owned()], vec![create_body()]),
        write(
            Subject::CreatePersonVersion0,
            "POST",
            vec!["/v0/persons".to_owned()],
            vec![create_body_of_version_0()],
        ),
        write(
            Subject::MoveCandidate,
            "PATCH",
            under("/v1/candidates/", &sample.candidates),
            move_bodies(&sample.stages),
        ),
    ]
}

/// A whole page of the feed.
pub fn feed(subject: Subject, after: u64) -> Operation {
    read(subject, vec![format!("/v1/events?after={after}&limit=1000")])
}

fn read(subject: Subject, paths: Vec<String>) -> Operation {
    Operation { subject, method: "GET", paths, bodies: Vec::new() }
}

const fn write(
    subject: Subject,
    method: &'static str,
    paths: Vec<String>,
    bodies: Vec<String>,
) -> Operation {
    Operation { subject, method, paths, bodies }
}

fn under(prefix: &str, ids: &[String]) -> Vec<String> {
    ids.iter().map(|id| format!("{prefix}{id}")).collect()
}

fn create_body() -> String {
    concat!(
        r#"{"first_name":"Robin","last_name":"Bench {tag}","current_job_title":"Software Engineer","company_name":"Quillstone Software","#,
        r#""social_location":"Oslo, Norway","social_url":"https://social.example/in/robin-bench-{tag}","#,
        r#""work_email":"robin.{tag}@bench.example","mobile_phone":"+46 70 174 06 05"}"#
    )
    .to_owned()
}

fn create_body_of_version_0() -> String {
    concat!(
        r#"{"name":"Robin Bench {tag}","current_job_title":"Software Engineer","company_name":"Quillstone Software","#,
        r#""social_location":"Oslo, Norway","social_url":"https://social.example/in/robin-bench-{tag}","#,
        r#""email":"robin.{tag}@bench.example","phone_number":"+46 70 174 06 05"}"#
    )
    .to_owned()
}

fn update_body() -> String {
    r#"{"current_job_title":"Principal Engineer {tag}"}"#.to_owned()
}

/// Stages behind those that the candidates begin in, each another than the one before.
fn move_bodies(stages: &[String]) -> Vec<String> {
    stages.iter().skip(2).take(4).map(|stage| format!(r#"{{"stage_id":"{stage}"}}"#)).collect()
}

/// What a script has to know beside its operation.
pub struct Setting<'s> {
    pub key: &'s str,
    pub threads: u64,
    /// Differs in every run of wrk, so that what is created is new.
    pub run: u64,
    pub is_warm_up: bool,
    /// The file that has the paths, a line each.
    pub paths_file: &'s str,
}

impl Operation {
    pub fn script(&self, setting: &Setting<'_>) -> String {
        let Setting { key, threads, run, paths_file, .. } = setting;
        let mut script = String::from(SETUP);
        let _ = writeln!(
            script,
            "local threads, run, method = {threads}, {run}, [==[{}]==]",
            self.method
        );
        let _ = writeln!(script, "local paths_file, key = [==[{paths_file}]==], [==[{key}]==]");
        match self.bodies_for(setting.is_warm_up) {
            [] => script.push_str(READ),
            bodies => {
                let _ = writeln!(
                    script,
                    "local bodies = {{{}}}",
                    bodies.iter().map(|body| lua_parts(body)).collect::<String>()
                );
                script.push_str(WRITE);
            }
        }
        script
    }

    /// A move to the stage where the candidate is would be no move: the warm-up uses other stages
    /// than the run behind it.
    fn bodies_for(&self, is_warm_up: bool) -> &[String] {
        let half = self.bodies.len() / 2;
        match (self.bodies.len(), is_warm_up) {
            (0 | 1, _) => &self.bodies,
            (_, true) => &self.bodies[..half],
            (_, false) => &self.bodies[half..],
        }
    }
}

/// The body as a Lua table of what stands around the tags.
fn lua_parts(body: &str) -> String {
    let parts: String = body.split(TAG).map(|part| format!("[==[{part}]==],")).collect();
    format!("{{{parts}}},")
}

/// Every thread of wrk has a Lua of its own; this tells them apart.
const SETUP: &str = "\
local started = 0
function setup(thread)
  started = started + 1
  thread:set('thread_number', started)
end
";

const READ: &str = "\
local requests, at = {}, 0
function init()
  wrk.headers['Authorization'] = 'Bearer ' .. key
  for path in io.lines(paths_file) do
    requests[#requests + 1] = wrk.format(method, path)
  end
  at = math.floor(#requests * (thread_number - 1) / threads)
end
function request()
  at = at % #requests + 1
  return requests[at]
end
";

/// Tags and stages are all of one length, so that the head of a request with its Content-Length is
/// made once for each path. Threads share no path unless there is but one.
const WRITE: &str = "\
local heads, at, round, count = {}, 0, 0, 0
local function body()
  count = count + 1
  local parts = bodies[round % #bodies + 1]
  return table.concat(parts, string.format('%03d%03d%09d', run, thread_number, count))
end
function init()
  wrk.headers['Authorization'] = 'Bearer ' .. key
  wrk.headers['Content-Type'] = 'application/json'
  local paths = {}
  for path in io.lines(paths_file) do
    paths[#paths + 1] = path
  end
  local example = body()
  for number, path in ipairs(paths) do
    if #paths == 1 or number % threads == thread_number - 1 then
      local whole = wrk.format(method, path, nil, example)
      heads[#heads + 1] = whole:sub(1, #whole - #example)
    end
  end
end
function request()
  at = at + 1
  if at > #heads then
    at, round = 1, round + 1
  end
  return heads[at] .. body()
end
";

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(is_warm_up: bool) -> Setting<'static> {
        Setting { key: "secret", threads: 2, run: 3, is_warm_up, paths_file: "/tmp/paths" }
    }

    #[test]
    fn a_body_is_cut_at_its_tags() {
        assert_eq!(lua_parts(r#"{"a":"x{tag}"}"#), r#"{[==[{"a":"x]==],[==["}]==],},"#);
        assert_eq!(lua_parts("{}"), "{[==[{}]==],},");
    }

    #[test]
    fn a_warm_up_moves_to_other_stages() {
        let stages: Vec<_> =
            ["one", "two", "three", "four", "five", "six", "seven"].map(str::to_owned).to_vec();
        let operation =
            write(Subject::MoveCandidate, "PATCH", vec!["/x".to_owned()], move_bodies(&stages));
        let (warm_up, measured) =
            (operation.script(&setting(true)), operation.script(&setting(false)));
        assert!(warm_up.contains("three") && warm_up.contains("four") && !warm_up.contains("five"));
        assert!(
            measured.contains("five") && measured.contains("six") && !measured.contains("four")
        );
    }

    #[test]
    fn a_read_has_no_body() {
        let script = bare().script(&setting(false));
        assert!(script.contains("[==[GET]==]") && !script.contains("Content-Type"));
    }
}
