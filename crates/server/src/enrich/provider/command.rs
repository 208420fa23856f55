//! A program of the operator's. It reads the question as JSON and prints a profile.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use model::enrichment::Question;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use super::{Answer, Asking, MOST_READ, Provider, Trouble};
use crate::config::ProviderConfig;

/// The version of what the program is told and of what it prints.
const VERSION: u32 = 1;
/// What every program gets of the environment, if it is there.
const INHERITED: [&str; 3] = ["PATH", "HOME", "LANG"];
const CALL_VARIABLE: &str = "SLATED_CALL";
/// With this status a program asks to be asked later, as `sysexits.h` has it.
const TRY_LATER: i32 = 75;
/// What is read of the errors that a program prints, and what is told of them.
const MOST_ERRORS_READ: u64 = 4096;
const CHARACTERS_TOLD: usize = 200;

pub struct Program {
    path: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, OsString)>,
}

#[derive(Serialize)]
struct Asked<'q> {
    version: u32,
    person: &'q Question,
}

impl Program {
    /// `variable` gives the value of an environment variable. A path is one from `base`, a bare name is looked for in `PATH`.
    pub fn new(config: &ProviderConfig, base: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let written = config.command.as_deref().unwrap_or_default();
        let (name, arguments) =
            written.split_first().ok_or("command is missing, as in command = [\"/usr/local/bin/lookup\", \"--json\"]")?;
        let path = match name.contains('/') {
            true => base.join(name),
            false => PathBuf::from(name),
        };
        if name.contains('/') && !path.is_file() {
            return Err(format!("command: there is no program {}", path.display()));
        }
        let mut environment = Vec::new();
        for name in INHERITED {
            environment.extend(variable(name).map(|value| (name.to_owned(), value.into())));
        }
        for name in config.environment.iter().flatten() {
            let value = variable(name).ok_or_else(|| format!("environment: the variable {name} is not set"))?;
            environment.push((name.clone(), value.into()));
        }
        Ok(Self { path, arguments: arguments.to_vec(), environment })
    }

    async fn run(&self, question: &Question, call: &str) -> Result<Answer, Trouble> {
        let asked =
            serde_json::to_vec(&Asked { version: VERSION, person: question }).map_err(|error| Trouble::Failed(error.to_string()))?;
        let mut command = Command::new(&self.path);
        command.args(&self.arguments).env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env(CALL_VARIABLE, call).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let failed = |error: io::Error| Trouble::Failed(format!("it cannot be run: {error}"));
        let mut child = command.spawn().map_err(failed)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let tell = async {
            if let Some(mut stdin) = stdin {
                // A program that does not read its question may still answer.
                let _ = stdin.write_all(&asked).await;
                let _ = stdin.shutdown().await;
            }
            Ok::<(), Trouble>(())
        };
        let listen = async {
            let printed = read_up_to(stdout, MOST_READ as u64 + 1).await?;
            match printed.len() > MOST_READ {
                true => Err(Trouble::Failed(format!("it printed more than {} MiB", MOST_READ / (1024 * 1024)))),
                false => Ok(printed),
            }
        };
        // Whatever ends this early ends the program too.
        let ((), printed, errors) = tokio::try_join!(tell, listen, read_up_to(stderr, MOST_ERRORS_READ))?;
        let status = child.wait().await.map_err(failed)?;
        judge(status, &printed, &errors)
    }
}

/// Reads to the end, and gives back what there was at most.
async fn read_up_to(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> Result<Vec<u8>, Trouble> {
    let failed = |error: io::Error| Trouble::Failed(format!("what it prints cannot be read: {error}"));
    let mut read = Vec::new();
    let Some(mut pipe) = pipe else { return Ok(read) };
    (&mut pipe).take(most).read_to_end(&mut read).await.map_err(failed)?;
    if read.len() <= MOST_READ {
        tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await.map_err(failed)?;
    }
    Ok(read)
}

fn judge(status: ExitStatus, printed: &[u8], errors: &[u8]) -> Result<Answer, Trouble> {
    let said = first_line(errors);
    match status.code() {
        Some(0) => read(printed),
        Some(TRY_LATER) => Err(Trouble::Busy { retry_after: None, reason: format!("it asks to be asked later{said}") }),
        Some(code) => Err(Trouble::Failed(format!("it ended with status {code}{said}"))),
        None => Err(Trouble::Failed(format!("it was killed: {status}{said}"))),
    }
}

fn read(printed: &[u8]) -> Result<Answer, Trouble> {
    if printed.trim_ascii().is_empty() {
        return Ok(Answer::nobody());
    }
    match serde_json::from_slice(printed) {
        Ok(Value::Null) => Ok(Answer::nobody()),
        Ok(profile @ Value::Object(_)) => Ok(Answer::free(profile)),
        Ok(_) => Err(Trouble::Failed("what it printed is no JSON object".to_owned())),
        Err(error) => Err(Trouble::Failed(format!("what it printed is no JSON: {error}"))),
    }
}

/// Behind a colon, if there is one.
fn first_line(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line: String = line.chars().filter(|character| !character.is_control()).take(CHARACTERS_TOLD).collect();
    match line.is_empty() {
        true => line,
        false => format!(": {line}"),
    }
}

impl Provider for Program {
    fn can_ask(&self, question: &Question) -> bool {
        let is_named = !question.name.is_empty() || !question.social_url.is_empty() || !question.external_source_id.is_empty();
        is_named || !question.emails.is_empty() || !question.phones.is_empty()
    }

    fn ask<'a>(&'a self, question: &'a Question, call: &'a str) -> Asking<'a> {
        Box::pin(self.run(question, call))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Config;

    fn program(settings: &str) -> Result<Program, String> {
        let text = format!("[[enrichment.provider]]\nname = \"lookup\"\nkind = \"command\"\n{settings}\n");
        let config = Config::parse("slated.toml", &text)?;
        let variable = |name: &str| match name {
            "PATH" => std::env::var("PATH").ok(),
            "TOKEN" => Some("s3cret".to_owned()),
            _ => None,
        };
        Program::new(config.enrichment.providers[0].get_ref(), Path::new("/"), &variable)
    }

    /// What comes of a script that is run by `sh`.
    fn run(script: &str) -> Result<Answer, Trouble> {
        let settings = format!("command = [\"sh\", \"-c\", '''{script}''']\nenvironment = [\"TOKEN\"]");
        let program = program(&settings).unwrap_or_else(|reason| panic!("{reason}"));
        let question = Question { name: "Ada Lovelace".to_owned(), ..Question::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let asking = program.ask(&question, "c4ll");
            tokio::time::timeout(Duration::from_secs(20), asking).await.unwrap_or_else(|_| Err(Trouble::Failed("too slow".to_owned())))
        })
    }

    fn answered(script: &str) -> Option<Value> {
        run(script).unwrap_or_else(|trouble| panic!("{trouble:?}")).profile
    }

    #[test]
    fn it_is_told_the_question_and_its_answer_is_read() {
        let told = answered("cat").unwrap_or_default();
        assert_eq!((&told["version"], &told["person"]["name"]), (&Value::from(1), &Value::from("Ada Lovelace")));
        let environment = answered(r#"printf '{"token": "%s", "call": "%s", "user": "%s"}' "$TOKEN" "$SLATED_CALL" "$USER""#);
        assert_eq!(environment, Some(serde_json::json!({ "token": "s3cret", "call": "c4ll", "user": "" })));
    }

    #[test]
    fn nothing_or_null_is_nobody() {
        for script in ["true", "echo", "echo null", "echo '{}'"] {
            assert_eq!(answered(script), None, "{script}");
        }
    }

    #[test]
    fn what_goes_wrong_is_told() {
        let failed = |script: &str| match run(script) {
            Err(Trouble::Failed(reason)) => reason,
            other => panic!("{script}: {other:?}"),
        };
        assert_eq!(failed("echo 'no such table' >&2; echo more >&2; exit 3"), "it ended with status 3: no such table");
        assert_eq!(failed("exit 1"), "it ended with status 1");
        assert!(failed("echo '[1]'").contains("no JSON object"));
        assert!(failed("echo hello").contains("no JSON"));
        assert!(failed("kill -9 $$").contains("killed"));
        assert!(failed("yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").contains("more than 2 MiB"));
        assert_eq!(
            run("echo later >&2; exit 75"),
            Err(Trouble::Busy { retry_after: None, reason: "it asks to be asked later: later".to_owned() })
        );
    }

    #[test]
    fn many_errors_do_not_hold_a_program_up() {
        assert_eq!(answered("yes error | head -c 1000000 >&2; echo '{\"name\": \"Ada\"}'"), Some(serde_json::json!({ "name": "Ada" })));
    }

    #[test]
    fn wrong_settings_are_told() {
        for (settings, part) in [
            ("", "command is missing"),
            ("command = []", "command is missing"),
            ("command = [\"./nowhere/lookup\"]", "no program /./nowhere/lookup"),
            ("command = [\"sh\"]\nenvironment = [\"MISSING\"]", "MISSING is not set"),
        ] {
            let reason = program(settings).err().unwrap_or_else(|| panic!("taken: {settings}"));
            assert!(reason.contains(part), "{reason}");
        }
    }
}
