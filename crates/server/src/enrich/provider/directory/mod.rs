//! A file of the operator's own, with a profile in JSON on each line. It may be replaced while the program runs: who asks meanwhile is
//! answered from the old one.

mod index;
mod keys;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::enrichment::Question;

use self::index::{Found, Index, Stamp};
use super::{Answer, Asking, Provider, Trouble};

const LOOK_EVERY: Duration = Duration::from_secs(1);
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
    watch: Mutex<Watch>,
}

struct Watch {
    looked_at: Instant,
    /// The file that was last indexed, or could not be.
    tried: Stamp,
    is_indexing: bool,
    is_gone: bool,
}

impl Directory {
    pub fn open(path: &Path) -> Result<Self, String> {
        let (index, tried) = Index::of_file(path, true).map_err(|error| format!("path {} cannot be read: {error}", path.display()))?;
        tracing::info!(directory = %path.display(), persons = index.persons, "directory indexed");
        let watch = Watch { looked_at: Instant::now(), tried, is_indexing: false, is_gone: false };
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
        if let Some(stamp) = self.0.changed() {
            let shared = Arc::clone(&self.0);
            tokio::task::spawn_blocking(move || shared.index_again(stamp));
        }
        let index = Arc::clone(&lock(&self.0.index));
        let found = tokio::task::spawn_blocking(move || index.find(&question)).await;
        match found.map_err(|error| Trouble::Failed(error.to_string()))? {
            Ok(Found::Profile(profile)) => Ok(Answer::free(profile)),
            Ok(Found::Nobody) => Ok(Answer::nobody()),
            Ok(Found::Stale) => Err(later("its file has changed and is read anew".to_owned())),
            Err(error) => Err(later(format!("its file cannot be read: {error}"))),
        }
    }
}

fn later(reason: String) -> Trouble {
    Trouble::Busy { retry_after: Some(ASK_AGAIN), reason }
}

impl Shared {
    /// The file that is to be indexed, if it is another one and nobody is at it.
    fn changed(&self) -> Option<Stamp> {
        let Watched { path, watch } = self.watched.as_ref()?;
        let mut watch = lock(watch);
        if watch.is_indexing || watch.looked_at.elapsed() < LOOK_EVERY {
            return None;
        }
        watch.looked_at = Instant::now();
        match Stamp::of(path) {
            Ok(stamp) => {
                watch.is_gone = false;
                if stamp == watch.tried {
                    return None;
                }
                watch.is_indexing = true;
                Some(stamp)
            }
            Err(error) => {
                if !watch.is_gone {
                    tracing::warn!(directory = %path.display(), error = %error, "a directory is gone; its last contents are still used");
                }
                watch.is_gone = true;
                None
            }
        }
    }

    fn index_again(&self, seen: Stamp) {
        let Some(Watched { path, watch }) = &self.watched else { return };
        let tried = match Index::of_file(path, false) {
            Ok((index, stamp)) => {
                tracing::info!(directory = %path.display(), persons = index.persons, "directory indexed");
                *lock(&self.index) = Arc::new(index);
                stamp
            }
            Err(error) => {
                tracing::warn!(directory = %path.display(), error = %error, "a directory cannot be read; its last contents are still used");
                seen
            }
        };
        let mut watch = lock(watch);
        watch.tried = tried;
        watch.is_indexing = false;
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
    fn look_again(directory: &Directory) {
        let watched = directory.0.watched.as_ref().unwrap();
        lock(&watched.watch).looked_at = Instant::now().checked_sub(LOOK_EVERY).unwrap();
        if let Some(stamp) = directory.0.changed() {
            directory.0.index_again(stamp);
        }
    }

    #[test]
    fn a_file_that_is_replaced_is_indexed_again_and_one_that_is_gone_is_remembered() {
        let path = std::env::temp_dir().join(format!("slated-directory-{}.jsonl", std::process::id()));
        std::fs::write(&path, line("ada")).unwrap();
        let directory = Directory::open(&path).unwrap();
        let ada = Ok(Answer { profile: Some(json!({ "external_source_id": "ada" })), cost: None });
        assert_eq!(answer(&directory, "ada"), ada);
        assert_eq!(answer(&directory, "bob"), Ok(Answer::nobody()));

        let new = path.with_extension("new");
        std::fs::write(&new, [line("ada"), line("bob")].join("\n")).unwrap();
        std::fs::rename(&new, &path).unwrap();
        look_again(&directory);
        assert!(answer(&directory, "bob").is_ok_and(|answer| answer.profile.is_some()));

        std::fs::remove_file(&path).unwrap();
        look_again(&directory);
        look_again(&directory);
        assert_eq!(answer(&directory, "ada"), ada);
    }

    #[test]
    fn it_is_asked_only_with_something_to_find_by() {
        let directory = Directory::embedded("test", "{\"external_source_id\": \"ada\"}\n");
        assert!(directory.can_ask(&asked("ada")));
        assert!(!directory.can_ask(&Question { name: "Ada".to_owned(), ..Question::default() }));
        assert!(answer(&directory, "ada").is_ok_and(|answer| answer.profile.is_some()));
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        let reason = Directory::open(Path::new("/nowhere/people.jsonl")).err().unwrap();
        assert!(reason.contains("/nowhere/people.jsonl"), "{reason}");
    }
}
