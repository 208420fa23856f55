//! Proving that nobody changed the log.

use model::event::Hash;
use model::id::WorkspaceId;
use store::record::event;
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
        for proof in &proofs {
            match Self::check(proved, proof) {
                Ok(next) => proved = Some(next),
                Err(reason) => return Ok(Err(Broken { sequence: proof.sequence, reason })),
            }
        }
        Ok(Ok((proved, proofs.len() as i64 == Self::SOME)))
    }
}
