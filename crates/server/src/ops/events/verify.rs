//! Proving that nobody changed the log.

use model::event::Hash;
use model::id::WorkspaceId;
use store::record::{event, event_reading};
use store::{Failure, Tx, Work};

/// How far a log is proved: the last entry that was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Proved {
    pub first: i64,
    pub sequence: i64,
    pub hash: Hash,
}

/// Checks the entries behind those that are proved, some at a time.
pub struct VerifyEvents {
    pub workspace: WorkspaceId,
    pub proved: Option<Proved>,
}

/// What is wrong with the log, and where.
pub struct Broken {
    pub sequence: i64,
    pub reason: &'static str,
}

impl VerifyEvents {
    const SOME: i64 = 1000;

    fn check(proved: Option<Proved>, proof: &event::Proof) -> Result<Proved, &'static str> {
        let Some(entry) = &proof.entry else { return Err("it cannot be read") };
        match proved {
            _ if proof.sequence < 1 => return Err("numbers begin with 1"),
            Some(last) if proof.sequence != last.sequence + 1 => return Err("entries before it are missing"),
            Some(last) if entry.previous_hash != last.hash => return Err("it does not follow from the entry before it"),
            None if proof.sequence == 1 && entry.previous_hash != Hash::NONE => return Err("the first entry follows from another"),
            _ => {}
        }
        if !entry.has_its_content {
            return Err("its contents were changed, or taken out although nobody was erased");
        }
        if !entry.is_whole {
            return Err("it was changed");
        }
        Ok(Proved { first: proved.map_or(proof.sequence, |last| last.first), sequence: proof.sequence, hash: entry.hash })
    }
}

impl Work for VerifyEvents {
    /// How far the log is proved now, and whether there is more; or what is wrong.
    type Output = Result<(Option<Proved>, bool), Broken>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        let after = self.proved.map_or(i64::MIN, |proved| proved.sequence);
        let proofs = event::proofs(tx, self.workspace, after, Self::SOME).await?;
        let mut proved = self.proved;
        if let (Some(last), Some(next)) = (proved, proofs.first())
            && next.sequence > last.sequence + 1
            && event_reading::oldest(tx, self.workspace).await? >= next.sequence
        {
            // All that stood before it was forgotten meanwhile, for its age.
            proved = None;
        }
        for proof in &proofs {
            match Self::check(proved, proof) {
                Ok(next) => proved = Some(next),
                Err(reason) => return Ok(Err(Broken { sequence: proof.sequence, reason })),
            }
        }
        Ok(Ok((proved, proofs.len() as i64 == Self::SOME)))
    }
}

#[cfg(test)]
mod tests {
    use model::key::Scope;
    use store::{Location, Options, Purpose, Store};

    use super::*;
    use crate::ops::events::retain::ForgetEvents;
    use crate::ops::keys::CreateKey;

    struct First(WorkspaceId);

    impl Work for First {
        type Output = Option<Proved>;

        async fn run(&self, tx: &mut Tx) -> Result<Option<Proved>, Failure> {
            let proofs = event::proofs(tx, self.0, 0, 1).await?;
            Ok(proofs.first().and_then(|proof| VerifyEvents::check(None, proof).ok()))
        }
    }

    #[tokio::test]
    async fn what_is_forgotten_meanwhile_is_not_missed() {
        let directory = std::env::temp_dir().join(format!("slated-verify-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let store = Store::open(&Location::Sqlite(directory.join("slated.db")), Purpose::Serve, &Options::default()).await.unwrap();
        let key = || CreateKey { workspace: "main".to_owned(), name: "any".to_owned(), scope: Scope::Read, expires_at: None };
        let workspace = store.write(key()).await.unwrap().workspace;
        for _ in 0..3 {
            store.write(key()).await.unwrap();
        }
        let proved = store.read(First(workspace)).await.unwrap();
        assert_eq!(proved.map(|proved| proved.sequence), Some(1));
        store.write(ForgetEvents { workspace, kept_for_millis: -60_000 }).await.unwrap();
        let (end, has_more) =
            store.read(VerifyEvents { workspace, proved }).await.unwrap().unwrap_or_else(|broken| panic!("{}", broken.reason));
        assert_eq!((end.map(|end| (end.first, end.sequence)), has_more), (Some((4, 4)), false));
        drop(store);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
