//! Proving that nobody changed the log.

use std::collections::HashMap;

use slated_model::event::Hash;
use slated_model::id::{PersonId, WorkspaceId};
use slated_store::records::events::log;
use slated_store::records::events::log::Content;
use slated_store::records::events::{outbox, reading};
use slated_store::{Operation, OperationError, Tx};

/// How far a log is proved: the last entry that was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Proved {
    pub first: i64,
    pub sequence: i64,
    pub hash: Hash,
}

/// What is known of a log so far.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    pub proved: Option<Proved>,
    /// Persons about whom an entry without its contents was met, and the first of these. An entry
    /// further on must say that they were erased.
    unexplained: HashMap<PersonId, i64>,
}

/// Checks the entries behind those that are, some at a time. It is to look at one state of the
/// data: an erasure changes many entries.
pub struct VerifyEvents {
    pub workspace: WorkspaceId,
    pub checked: Checked,
}

/// What is wrong with the log, and where.
pub struct Broken {
    pub sequence: i64,
    pub reason: &'static str,
}

const CONTENT_IS_WRONG: &str = "its contents were changed, or removed without an erasure";

impl Checked {
    fn take_in(&mut self, proof: &log::Proof) -> Result<(), &'static str> {
        let Some(entry) = &proof.entry else { return Err("it cannot be read") };
        match self.proved {
            _ if proof.sequence < 1 => return Err("sequence numbers start at 1"),
            Some(last) if proof.sequence != last.sequence + 1 => {
                return Err("entries before it are missing");
            }
            Some(last) if entry.previous_hash != last.hash => {
                return Err("its previous hash does not match the entry before it");
            }
            None if proof.sequence == 1 && entry.previous_hash != Hash::NONE => {
                return Err("the first entry has a previous hash");
            }
            _ => {}
        }
        match &entry.content {
            Content::Changed => return Err(CONTENT_IS_WRONG),
            Content::Gone { about } => {
                self.unexplained.entry(*about).or_insert(proof.sequence);
            }
            Content::Whole { erased } => self.explain(erased),
        }
        if !entry.is_whole {
            return Err("it was changed");
        }
        let first = self.proved.map_or(proof.sequence, |last| last.first);
        self.proved = Some(Proved { first, sequence: proof.sequence, hash: entry.hash });
        Ok(())
    }

    fn explain(&mut self, erased: &[PersonId]) {
        for person in erased {
            self.unexplained.remove(person);
        }
    }
}

impl Operation for VerifyEvents {
    /// What is known now, and whether there is more; or what is wrong.
    type Output = Result<(Checked, bool), Broken>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        const SOME: i64 = 1000;
        let after = self.checked.proved.map_or(i64::MIN, |proved| proved.sequence);
        let erased = outbox::erased(tx, self.workspace).await?;
        let proofs = log::proofs(tx, self.workspace, after, SOME).await?;
        let mut checked = self.checked.clone();
        if let (Some(last), Some(next)) = (checked.proved, proofs.first())
            && next.sequence > last.sequence + 1
            && reading::oldest(tx, self.workspace).await? >= next.sequence
        {
            // All that stood before it was forgotten meanwhile, for its age.
            checked = Checked::default();
        }
        for proof in &proofs {
            if let Err(reason) = checked.take_in(proof) {
                return Ok(Err(Broken { sequence: proof.sequence, reason }));
            }
        }
        let has_more = proofs.len() as i64 == SOME;
        if !has_more {
            checked.explain(&erased);
            if let Some(sequence) = checked.unexplained.values().min() {
                return Ok(Err(Broken { sequence: *sequence, reason: CONTENT_IS_WRONG }));
            }
        }
        Ok(Ok((checked, has_more)))
    }
}

#[cfg(test)]
mod tests {
    use slated_model::clock::Timestamp;
    use slated_model::key::Scope;
    use slated_store::{Location, Options, Purpose, Store};

    use super::*;
    use crate::events::retain::ForgetEvents;
    use crate::keys::CreateKey;

    struct First(WorkspaceId);

    impl Operation for First {
        type Output = Checked;

        async fn run(&self, tx: &mut Tx) -> Result<Checked, OperationError> {
            let mut checked = Checked::default();
            log::proofs(tx, self.0, 0, 1)
                .await?
                .iter()
                .try_for_each(|proof| checked.take_in(proof))
                .unwrap();
            Ok(checked)
        }
    }

    #[tokio::test]
    async fn what_is_forgotten_meanwhile_is_not_missed() {
        let directory = std::env::temp_dir().join(format!("slated-verify-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let store = Store::open(
            &Location::Sqlite(directory.join("slated.db")),
            Purpose::Serve,
            &Options::default(),
        )
        .await
        .unwrap();
        let key = || CreateKey {
            workspace: "main".to_owned(),
            name: "any".to_owned(),
            scope: Scope::Read,
            expires_at: None,
        };
        let workspace = store.write(key()).await.unwrap().workspace;
        for _ in 0..3 {
            store.write(key()).await.unwrap();
        }
        let checked = store.read(First(workspace)).await.unwrap();
        assert_eq!(checked.proved.map(|proved| proved.sequence), Some(1));
        store
            .write(ForgetEvents { workspace, before: Timestamp::now().plus_millis(60_000) })
            .await
            .unwrap();
        let (end, has_more) = store
            .read_consistent(VerifyEvents { workspace, checked })
            .await
            .unwrap()
            .unwrap_or_else(|broken| panic!("{}", broken.reason));
        assert_eq!(
            (end.proved.map(|end| (end.first, end.sequence)), has_more),
            (Some((4, 4)), false)
        );
        drop(store);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
