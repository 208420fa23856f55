//! A file of the operator's own, with a profile in JSON on each line. It may be replaced while the
//! program runs: whoever notices waits until the new one is indexed, and who asks meanwhile is
//! answered from the old one.

mod index;
mod keys;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use slated_model::enrichment::Question;

use self::index::{Found, Index, Stamp};
use super::{Answer, Asking, Provider, Trouble};

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// After so long a file that changed is likely indexed again.
const ASK_AGAIN: Duration = Duration::from_secs(2);

pub struct Directory(Arc<Shared>);

struct Shared {
    index: Mutex<Arc<Index>>,
    /// None if it cannot change.
    watched: Option<Watched>,
}

struct Watched {
    path: PathBuf,
    /// Held by whoever looks at the file, for as long as they index it. Nobody waits for it.
    watch: Mutex<Watch>,
}

struct Watch {
    looked_at: Instant,
    /// The file that was last indexed, or could not be.
    tried: Stamp,
    is_gone: bool,
}

impl Directory {
    pub fn open(path: &Path) -> Result<Self, String> {
        let (index, tried) = Index::of_file(path, true)
            .map_err(|error| format!("path {} cannot be read: {error}", path.display()))?;
        tracing::info!(directory = %path.display(), persons = index.persons, "directory indexed");
        let watch = Watch { looked_at: Instant::now(), tried, is_gone: false };
        let watched = Watched { path: path.to_owned(), watch: Mutex::new(watch) };
        Ok(Self(Arc::new(Shared { index: Mutex::new(Arc::new(index)), watched: Some(watched) })))
    }

    /// The lines of a text that is part of the program.
    #[must_use]
    pub fn embedded(name: &str, text: &'static str) -> Self {
        let index = Mutex::new(Arc::new(Index::of_text(name, text)));
        Self(Arc::new(Shared { index, watched: None }))
    }

    async fn look_up(&self, question: Question) -> Result<Answer, Trouble> {
        let shared = Arc::clone(&self.0);
        // A file that takes longer to index than the asker waits is indexed to the end all the
        // same.
        let found = tokio::task::spawn_blocking(move || shared.find(&question)).await;
        match found.map_err(|error| Trouble::Failed(error.to_string()))? {
            Ok(Found::Profile(profile)) => Ok(Answer::free(profile)),
            Ok(Found::Nobody) => Ok(Answer::nobody()),
            Ok(Found::Stale) => {
                Err(later("its file has changed and is being read again".to_owned()))
            }
            Err(error) => Err(later(format!("its file cannot be read: {error}"))),
        }
    }
}

fn later(reason: String) -> Trouble {
    Trouble::Busy { retry_after: Some(ASK_AGAIN), reason }
}

impl Shared {
    /// Reads files, so it is not for threads on which others wait.
    fn find(&self, question: &Question) -> io::Result<Found> {
        if let Some(watched) = &self.watched {
            self.keep_up(watched);
        }
        let index = Arc::clone(&lock(&self.index));
        index.find(question)
    }

    /// Indexes the file again if it is another one than before, unless somebody else is at it.
    fn keep_up(&self, Watched { path, watch }: &Watched) {
        let mut watch = match watch.try_lock() {
            Ok(watch) => watch,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if watch.looked_at.elapsed() < POLL_INTERVAL {
            return;
        }
        watch.looked_at = Instant::now();
        let name = path.display();
        let seen = match Stamp::of(path) {
            Ok(seen) => seen,
            Err(error) => {
                if !watch.is_gone {
                    tracing::warn!(directory = %name, error = %error, "the file of a directory is \
                        missing; its last contents are still used");
                }
                watch.is_gone = true;
                return;
            }
        };
        watch.is_gone = false;
        if seen == watch.tried {
            return;
        }
        watch.tried = match Index::of_file(path, false) {
            Ok((index, stamp)) => {
                tracing::info!(directory = %name, persons = index.persons, "directory indexed");
                *lock(&self.index) = Arc::new(index);
                stamp
            }
            Err(error) => {
                tracing::warn!(directory = %name, error = %error, "a directory cannot be read; \
                    its last contents are still used");
                seen
            }
        };
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Provider for Directory {
    fn can_ask(&self, question: &Question) -> bool {
        !keys::of_question(question).is_empty()
    }

    fn ask<'a>(&'a self, question: &'a Question, _: &'a str) -> Asking<'a> {
        Box::pin(self.look_up(question.clone()))
    }

    fn is_local(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(id: &str) -> Question {
        Question { external_source_id: id.to_owned(), ..Question::default() }
    }

    fn line(id: &str) -> String {
        json!({ "external_source_id": id }).to_string()
    }

    fn answer(directory: &Directory, id: &str) -> Result<Answer, Trouble> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(directory.ask(&asked(id), "call"))
    }

    /// As if a second had passed since the file was looked at.
    fn let_time_pass(directory: &Directory) {
        let watched = directory.0.watched.as_ref().unwrap();
        lock(&watched.watch).looked_at = Instant::now().checked_sub(POLL_INTERVAL).unwrap();
    }

    /// Puts a new file in the place of the old one.
    fn replace(path: &Path, lines: &[String]) {
        let new = path.with_extension("new");
        std::fs::write(&new, lines.join("\n")).unwrap();
        std::fs::rename(&new, path).unwrap();
    }

    fn is_known(directory: &Directory, id: &str) -> bool {
        answer(directory, id).unwrap().profile.is_some()
    }

    #[test]
    fn a_file_that_is_replaced_is_indexed_again_and_one_that_is_gone_is_remembered() {
        let path =
            std::env::temp_dir().join(format!("slated-directory-{}.jsonl", std::process::id()));
        std::fs::write(&path, line("ada")).unwrap();
        let directory = Directory::open(&path).unwrap();
        let ada = Ok(Answer { profile: Some(json!({ "external_source_id": "ada" })), cost: None });
        assert_eq!(answer(&directory, "ada"), ada);
        assert_eq!(answer(&directory, "bob"), Ok(Answer::nobody()));

        replace(&path, &[line("ada"), line("bob")]);
        let_time_pass(&directory);
        // Whoever notices has the new one at once.
        assert!(is_known(&directory, "bob"));

        std::fs::remove_file(&path).unwrap();
        for _ in 0..2 {
            let_time_pass(&directory);
            assert_eq!(answer(&directory, "ada"), ada);
        }
    }

    #[test]
    fn nobody_waits_for_one_who_indexes() {
        let path = std::env::temp_dir()
            .join(format!("slated-directory-busy-{}.jsonl", std::process::id()));
        std::fs::write(&path, line("ada")).unwrap();
        let directory = Directory::open(&path).unwrap();
        replace(&path, &[line("bob")]);
        let_time_pass(&directory);
        let watched = directory.0.watched.as_ref().unwrap();
        let held = lock(&watched.watch);
        assert!(is_known(&directory, "ada") && !is_known(&directory, "bob"));
        drop(held);
        assert!(is_known(&directory, "bob") && !is_known(&directory, "ada"));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn it_is_asked_only_with_something_to_find_by() {
        let directory = Directory::embedded("test", "{\"external_source_id\": \"ada\"}\n");
        assert!(directory.can_ask(&asked("ada")));
        assert!(!directory.can_ask(&Question { name: "Ada".to_owned(), ..Question::default() }));
        assert!(is_known(&directory, "ada"));
        assert!(directory.is_local());
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        let reason = Directory::open(Path::new("/nowhere/people.jsonl")).err().unwrap();
        assert!(reason.contains("/nowhere/people.jsonl"), "{reason}");
    }
}
