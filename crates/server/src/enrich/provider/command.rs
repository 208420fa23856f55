//! A program of the operator's. It reads the question as JSON and prints a profile. It runs in a
//! process group of its own, so that all it started can be ended with it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use std::{env, fs, io};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde_json::Value;
use slated_model::enrichment::Question;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::{Answer, Asking, MAX_RESPONSE_BYTES, Provider, Trouble};
use crate::config::ProviderConfig;

/// The version of what the program is told and of what it prints.
const VERSION: u32 = 1;
/// What every program gets of the environment, if it is there.
const INHERITED: [&str; 3] = ["PATH", "HOME", "LANG"];
const CALL_VARIABLE: &str = "SLATED_CALL";
/// With this status a program asks to be asked later, as `sysexits.h` has it.
const TRY_LATER: i32 = 75;
/// What is read of the errors that a program prints, and what is told of them.
const MAX_ERRORS_READ: usize = 4096;
const CHARACTERS_TOLD: usize = 200;
/// What is waited for the pipes of a program that has ended, if something that it started has them
/// too.
const PIPES_CLOSE_WITHIN: Duration = Duration::from_secs(1);

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
    /// `variable` gives the value of an environment variable. A path is one from `base`, a bare
    /// name is looked for in `PATH`.
    pub fn new(
        config: &ProviderConfig,
        base: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let written = config.command.as_deref().unwrap_or_default();
        let (name, arguments) = written.split_first().ok_or(
            "command is missing; set it as in command = [\"/usr/local/bin/lookup\", \
                \"--json\"]",
        )?;
        let path = match name.contains('/') {
            true => at_path(base.join(name))?,
            false => in_folders(name, &variable("PATH").unwrap_or_default())?,
        };
        let mut environment = Vec::new();
        for name in INHERITED {
            environment.extend(variable(name).map(|value| (name.to_owned(), value.into())));
        }
        for name in config.environment.iter().flatten() {
            let value = variable(name)
                .ok_or_else(|| format!("environment: the variable {name} is not set"))?;
            environment.push((name.clone(), value.into()));
        }
        Ok(Self { path, arguments: arguments.to_vec(), environment })
    }

    async fn run(&self, question: &Question, call: &str) -> Result<Answer, Trouble> {
        let asked = serde_json::to_vec(&Asked { version: VERSION, person: question })
            .map_err(|error| Trouble::Failed(error.to_string()))?;
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
            .env(CALL_VARIABLE, call)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child =
            command.process_group(0).kill_on_drop(true).spawn().map_err(|error| not_run(&error))?;
        // Whatever ends this early ends the program too, and all that it started.
        let mut group = Group::of(&child);
        let (stdin, mut stdout, mut stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (mut printed, mut errors) = (Vec::new(), Vec::new());
        let tell = async {
            if let Some(mut stdin) = stdin {
                // A program that does not read its question may still answer.
                let _ = stdin.write_all(&asked).await;
                let _ = stdin.shutdown().await;
            }
            Ok::<(), Trouble>(())
        };
        let listen = async {
            match hear(stdout.as_mut(), MAX_RESPONSE_BYTES, &mut printed).await? {
                true => Ok(()),
                false => Err(Trouble::Failed(format!(
                    "it printed more than {} MiB",
                    MAX_RESPONSE_BYTES / (1024 * 1024)
                ))),
            }
        };
        let listen_to_errors = async {
            let is_all = hear(stderr.as_mut(), MAX_ERRORS_READ, &mut errors).await?;
            if let (false, Some(stderr)) = (is_all, &mut stderr) {
                tokio::io::copy(stderr, &mut tokio::io::sink())
                    .await
                    .map_err(|error| not_read(&error))?;
            }
            Ok::<(), Trouble>(())
        };
        let status = {
            let mut talk = pin!(async { tokio::try_join!(tell, listen, listen_to_errors) });
            let mut end = pin!(async {
                let status = child.wait().await.map_err(|error| not_run(&error))?;
                group.has_ended();
                Ok::<ExitStatus, Trouble>(status)
            });
            tokio::select! {
                talked = &mut talk => {
                    talked?;
                    end.await?
                }
                status = &mut end => {
                    let status = status?;
                    // If they stay open, what was read by then is all.
                    if let Ok(talked) = timeout(PIPES_CLOSE_WITHIN, talk).await {
                        talked?;
                    }
                    status
                }
            }
        };
        judge(status, &printed, &errors)
    }
}

/// The program and all that it started, as long as that stays together. They are killed when this
/// goes, unless the program ended by itself.
struct Group(Option<Pid>);

impl Group {
    /// The first process of a group gives it its number.
    fn of(child: &Child) -> Self {
        let number = child.id().and_then(|number| i32::try_from(number).ok());
        Self(number.and_then(Pid::from_raw))
    }

    /// To be said at once when the program was waited for: from then on others may get its number.
    fn has_ended(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // There may be nobody left.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn not_run(error: &io::Error) -> Trouble {
    Trouble::Failed(format!("it cannot be run: {error}"))
}

fn not_read(error: &io::Error) -> Trouble {
    Trouble::Failed(format!("its output cannot be read: {error}"))
}

/// The program at a path, if there is one.
fn at_path(path: PathBuf) -> Result<PathBuf, String> {
    match fs::metadata(&path) {
        Ok(metadata) if is_program(&metadata) => Ok(path),
        Ok(metadata) if metadata.is_file() => {
            Err(format!("command: {} is not executable; use chmod +x", path.display()))
        }
        _ => Err(format!("command: program {} does not exist", path.display())),
    }
}

/// The first program of that name in folders that are written as in `PATH`.
fn in_folders(name: &str, folders: &str) -> Result<PathBuf, String> {
    let mut paths = env::split_paths(folders).map(|folder| folder.join(name));
    let found = paths.find(|path| fs::metadata(path).is_ok_and(|metadata| is_program(&metadata)));
    found.ok_or_else(|| {
        format!("command: program {name} is not in PATH; install it, or write its full path")
    })
}

fn is_program(metadata: &fs::Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}

/// Reads to the end, or until there is more than `most`; says whether it was the end. It may be
/// left at any time: what was read until then has been heard.
async fn hear(
    pipe: Option<&mut (impl AsyncRead + Unpin)>,
    most: usize,
    heard: &mut Vec<u8>,
) -> Result<bool, Trouble> {
    let Some(pipe) = pipe else { return Ok(true) };
    let mut pipe = pipe.take(most as u64 + 1);
    while pipe.read_buf(heard).await.map_err(|error| not_read(&error))? > 0 {}
    let is_all = heard.len() <= most;
    heard.truncate(most);
    Ok(is_all)
}

fn judge(status: ExitStatus, printed: &[u8], errors: &[u8]) -> Result<Answer, Trouble> {
    let said = first_line(errors);
    match status.code() {
        Some(0) => read(printed),
        Some(TRY_LATER) => Err(Trouble::Busy {
            retry_after: None,
            reason: format!("it asked for a later retry{said}"),
        }),
        Some(code) => Err(Trouble::Failed(format!("it exited with status {code}{said}"))),
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
        Ok(_) => Err(Trouble::Failed("its output is not a JSON object".to_owned())),
        Err(error) => Err(Trouble::Failed(format!("its output is not valid JSON: {error}"))),
    }
}

/// Behind a colon, if there is one.
fn first_line(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line: String =
        line.chars().filter(|character| !character.is_control()).take(CHARACTERS_TOLD).collect();
    match line.is_empty() {
        true => line,
        false => format!(": {line}"),
    }
}

impl Provider for Program {
    fn can_ask(&self, question: &Question) -> bool {
        let is_named = !question.name.is_empty()
            || !question.social_url.is_empty()
            || !question.external_source_id.is_empty();
        is_named || !question.emails.is_empty() || !question.phones.is_empty()
    }

    fn ask<'a>(&'a self, question: &'a Question, call: &'a str) -> Asking<'a> {
        Box::pin(self.run(question, call))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::config::Config;

    fn program(settings: &str) -> Result<Program, String> {
        let text =
            format!("[[enrichment.provider]]\nname = \"lookup\"\nkind = \"command\"\n{settings}\n");
        let config = Config::parse("slated.toml", &text)?;
        let variable = |name: &str| match name {
            "PATH" => env::var("PATH").ok(),
            "TOKEN" => Some("s3cret".to_owned()),
            _ => None,
        };
        Program::new(config.enrichment.providers[0].get_ref(), Path::new("/"), &variable)
    }

    /// What comes of a script that is run by `sh`.
    fn run(script: &str) -> Result<Answer, Trouble> {
        let settings =
            format!("command = [\"sh\", \"-c\", '''{script}''']\nenvironment = [\"TOKEN\"]");
        let program = program(&settings).unwrap_or_else(|reason| panic!("{reason}"));
        let question = Question { name: "Ada Lovelace".to_owned(), ..Question::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let asking = program.ask(&question, "c4ll");
            timeout(Duration::from_secs(20), asking)
                .await
                .unwrap_or_else(|_| Err(Trouble::Failed("too slow".to_owned())))
        })
    }

    fn answered(script: &str) -> Option<Value> {
        run(script).unwrap_or_else(|trouble| panic!("{trouble:?}")).profile
    }

    #[test]
    fn it_is_told_the_question_and_its_answer_is_read() {
        let told = answered("cat").unwrap_or_default();
        assert_eq!(
            (&told["version"], &told["person"]["name"]),
            (&Value::from(1), &Value::from("Ada Lovelace"))
        );
        let environment = answered(
            r#"printf '{"token": "%s", "call": "%s", "user": "%s"}' "$TOKEN" "$SLATED_CALL" "$USER""#,
        );
        assert_eq!(
            environment,
            Some(serde_json::json!({ "token": "s3cret", "call": "c4ll", "user": "" }))
        );
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
        assert_eq!(
            failed("echo 'no such table' >&2; echo more >&2; exit 3"),
            "it exited with status 3: no such table"
        );
        assert_eq!(failed("exit 1"), "it exited with status 1");
        assert!(failed("echo '[1]'").contains("not a JSON object"));
        assert!(failed("echo hello").contains("not valid JSON"));
        assert!(failed("kill -9 $$").contains("killed"));
        assert!(failed("yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").contains("more than 2 MiB"));
        assert_eq!(
            run("echo later >&2; exit 75"),
            Err(Trouble::Busy {
                retry_after: None,
                reason: "it asked for a later retry: later".to_owned()
            })
        );
    }

    #[test]
    fn many_errors_do_not_hold_a_program_up() {
        assert_eq!(
            answered("yes error | head -c 1000000 >&2; echo '{\"name\": \"Ada\"}'"),
            Some(serde_json::json!({ "name": "Ada" }))
        );
    }

    #[test]
    fn what_a_program_leaves_behind_is_not_waited_for() {
        let begun = Instant::now();
        assert_eq!(
            answered("sleep 15 & echo '{\"name\": \"Ada\"}'"),
            Some(serde_json::json!({ "name": "Ada" }))
        );
        let taken = begun.elapsed();
        assert!(taken >= PIPES_CLOSE_WITHIN && taken < Duration::from_secs(10), "{taken:?}");
    }

    #[test]
    fn a_program_goes_on_when_it_prints_no_more() {
        let failed = run("exec >&- 2>&-; sleep 0.1; exit 3");
        assert_eq!(failed, Err(Trouble::Failed("it exited with status 3".to_owned())));
    }

    #[test]
    fn wrong_settings_are_told() {
        for (settings, part) in [
            ("", "command is missing"),
            ("command = []", "command is missing"),
            ("command = [\"./nowhere/lookup\"]", "program /./nowhere/lookup does not exist"),
            ("command = [\"/usr/\"]", "program /usr/ does not exist"),
            ("command = [\"/etc/passwd\"]", "/etc/passwd is not executable"),
            (
                "command = [\"lookup-that-is-nowhere\"]",
                "program lookup-that-is-nowhere is not in \
                PATH",
            ),
            ("command = [\"sh\"]\nenvironment = [\"MISSING\"]", "MISSING is not set"),
        ] {
            let reason = program(settings).err().unwrap_or_else(|| panic!("taken: {settings}"));
            assert!(reason.contains(part), "{reason}");
        }
    }
}
