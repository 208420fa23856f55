//! Keys: made, listed, rotated and revoked.

use model::clock::Timestamp;
use model::id::{KeyId, WorkspaceId};
use model::key::{KeyHash, Scope, Secret};
use model::problem::{Code, Problem};
use store::record::key::{KeyRecord, NewKey};
use store::record::{key, workspace};
use store::{Failure, StoreError, Tx, Work};

use super::tell::KeyFields;
use super::workspaces::find_or_make;
use super::{Actor, tell};

fn new_secret(workspace: WorkspaceId) -> Result<Secret, StoreError> {
    let mut random = [0; 20];
    getrandom::fill(&mut random).map_err(|error| StoreError::Unavailable(format!("the system gives no random bytes: {error}")))?;
    Ok(Secret::new(workspace, random))
}

/// Makes a key, and its workspace if this is the first.
pub struct CreateKey {
    pub workspace: String,
    pub name: String,
    pub scope: Scope,
    pub expires_at: Option<Timestamp>,
}

pub struct CreatedKey {
    pub workspace: WorkspaceId,
    pub id: KeyId,
    pub secret: Secret,
}

impl Work for CreateKey {
    type Output = CreatedKey;

    async fn run(&self, tx: &mut Tx) -> Result<CreatedKey, Failure> {
        let workspace = find_or_make(tx, &self.workspace).await?;
        let secret = new_secret(workspace)?;
        let new = NewKey { name: &self.name, scope: self.scope, hash: secret.hash(), expires_at: self.expires_at };
        let id = key::insert(tx, workspace, &new).await?;
        tell::key_created(tx, &Actor::program(workspace), id, fields(&new)).await?;
        Ok(CreatedKey { workspace, id, secret })
    }
}

fn fields<'k>(key: &NewKey<'k>) -> KeyFields<'k> {
    KeyFields { name: key.name, scope: key.scope.name(), expires_at: key.expires_at }
}

pub async fn workspace_named(tx: &mut Tx, name: &str) -> Result<WorkspaceId, Failure> {
    let missing = || Problem::new(Code::NotFound, format!("There is no workspace {name:?}; it comes into being with its first key."));
    Ok(workspace::find_by_name(tx, name).await?.ok_or_else(missing)?)
}

async fn existing_key(tx: &mut Tx, workspace: WorkspaceId, id: KeyId) -> Result<KeyRecord, Failure> {
    Ok(key::find(tx, workspace, id).await?.ok_or_else(|| Problem::not_found("key", id))?)
}

pub struct ListKeys {
    pub workspace: String,
}

impl Work for ListKeys {
    type Output = Vec<KeyRecord>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<KeyRecord>, Failure> {
        let workspace = workspace_named(tx, &self.workspace).await?;
        Ok(key::all(tx, workspace).await?)
    }
}

/// Makes a new key in the place of an old one, which goes on working for a while.
pub struct RotateKey {
    pub workspace: String,
    pub id: KeyId,
    pub overlap_millis: i64,
}

impl Work for RotateKey {
    type Output = CreatedKey;

    async fn run(&self, tx: &mut Tx) -> Result<CreatedKey, Failure> {
        let workspace = workspace_named(tx, &self.workspace).await?;
        let old = existing_key(tx, workspace, self.id).await?;
        if !old.is_usable(tx.now()) {
            return Err(Problem::new(
                Code::NotFound,
                format!("The key {} is revoked or expired; make a new one with key create.", self.id),
            )
            .into());
        }
        let secret = new_secret(workspace)?;
        let new = NewKey { name: &old.name, scope: old.scope, hash: secret.hash(), expires_at: old.expires_at };
        let id = key::insert(tx, workspace, &new).await?;
        let end = tx.now().plus_millis(self.overlap_millis);
        let end = old.expires_at.map_or(end, |expiry| expiry.min(end));
        key::set_expiry(tx, workspace, self.id, end).await?;
        let actor = Actor::program(workspace);
        tell::key_created(tx, &actor, id, fields(&new)).await?;
        tell::key_rotated(tx, &actor, self.id, old.expires_at, end, id).await?;
        Ok(CreatedKey { workspace, id, secret })
    }
}

pub struct RevokeKey {
    pub workspace: String,
    pub id: KeyId,
}

impl Work for RevokeKey {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), Failure> {
        let workspace = workspace_named(tx, &self.workspace).await?;
        // So that of two who revoke it only one tells.
        workspace::lock(tx, workspace).await?;
        if existing_key(tx, workspace, self.id).await?.revoked_at.is_none() {
            key::revoke(tx, workspace, self.id).await?;
            tell::key_revoked(tx, &Actor::program(workspace), self.id).await?;
        }
        Ok(())
    }
}

/// The key that a caller showed, if it is one of that workspace.
pub struct FindKey {
    pub workspace: WorkspaceId,
    pub hash: KeyHash,
}

impl Work for FindKey {
    type Output = Option<KeyRecord>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<KeyRecord>, Failure> {
        Ok(key::find_by_hash(tx, self.workspace, &self.hash).await?)
    }
}

/// Notes when keys were last used.
pub struct TouchKeys {
    pub used: Vec<(WorkspaceId, KeyId, Timestamp)>,
}

impl Work for TouchKeys {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), Failure> {
        for (workspace, id, used_at) in &self.used {
            key::touch(tx, *workspace, *id, *used_at).await?;
        }
        Ok(())
    }
}
