//! Keys: made, listed, rotated and revoked.

use slated_model::clock::Timestamp;
use slated_model::id::{KeyId, WorkspaceId};
use slated_model::key::{KeyHash, MAX_KEYS, NewKey, Scope, Secret};
use slated_model::problem::{ErrorCode, FieldError, Problem};
use slated_store::records::key::KeyRecord;
use slated_store::records::{key, workspace};
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::emit::KeyFields;
use super::workspaces::find_or_make;
use super::{Actor, emit};

/// What makes a key or a secret one that nobody can guess.
pub fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT], StoreError> {
    let mut random = [0; COUNT];
    getrandom::fill(&mut random).map_err(|error| {
        StoreError::Unavailable(format!("the operating system provided no random bytes: {error}"))
    })?;
    Ok(random)
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
    pub key: KeyRecord,
    pub secret: Secret,
}

impl Operation for CreateKey {
    type Output = CreatedKey;

    async fn run(&self, tx: &mut Tx) -> Result<CreatedKey, OperationError> {
        let workspace = find_or_make(tx, &self.workspace).await?;
        let new =
            NewKey { name: self.name.clone(), scope: self.scope, expires_at: self.expires_at };
        let secret = Secret::new(workspace, random_bytes()?);
        AddKey { actor: Actor::program(workspace), new, secret }.run(tx).await
    }
}

/// Makes a key in a workspace that is there.
pub struct AddKey {
    pub actor: Actor,
    pub new: NewKey,
    pub secret: Secret,
}

impl Operation for AddKey {
    type Output = CreatedKey;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CreatedKey, OperationError> {
        // So that two at once do not make one too many.
        workspace::lock(tx, self.actor.workspace).await?;
        insert(tx, &self.actor, &self.new, &self.secret, None).await
    }
}

/// Keeps a new key and tells of it. The one that it replaces does not count against the most there
/// may be.
async fn insert(
    tx: &mut Tx,
    actor: &Actor,
    new: &NewKey,
    secret: &Secret,
    replaced: Option<KeyId>,
) -> Result<CreatedKey, OperationError> {
    let workspace = actor.workspace;
    if key::count_usable(tx, workspace, replaced).await? >= MAX_KEYS {
        let message = format!(
            "The workspace has {MAX_KEYS} active keys, which is the maximum; revoke one \
             first."
        );
        return Err(Problem::new(ErrorCode::TooMany, message).into());
    }
    let NewKey { name, scope, expires_at } = new.clone();
    let kept = key::NewKey { name: &name, scope, hash: secret.hash(), expires_at };
    let id = key::insert(tx, workspace, &kept).await?;
    emit::key_created(tx, actor, id, KeyFields { name: &name, scope: scope.name(), expires_at })
        .await?;
    let key = KeyRecord {
        id,
        name,
        scope,
        created_at: tx.now(),
        expires_at,
        revoked_at: None,
        last_used_at: None,
        replaced_by: None,
    };
    Ok(CreatedKey { workspace, key, secret: secret.clone() })
}

pub async fn workspace_named(tx: &mut Tx, name: &str) -> Result<WorkspaceId, OperationError> {
    let missing = || {
        Problem::new(
            ErrorCode::NotFound,
            format!("There is no workspace {name:?}; it is created with its first key."),
        )
    };
    Ok(workspace::find_by_name(tx, name).await?.ok_or_else(missing)?)
}

async fn existing_key(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: KeyId,
) -> Result<KeyRecord, OperationError> {
    Ok(key::find(tx, workspace, id).await?.ok_or_else(|| Problem::not_found("key", id))?)
}

/// All keys of a workspace, those that do not work any more too, the oldest first.
pub struct ListKeys {
    pub workspace: WorkspaceId,
}

impl Operation for ListKeys {
    type Output = Vec<KeyRecord>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<KeyRecord>, OperationError> {
        Ok(key::all(tx, self.workspace).await?)
    }
}

pub struct ReadKey {
    pub workspace: WorkspaceId,
    pub id: KeyId,
}

impl Operation for ReadKey {
    type Output = KeyRecord;

    async fn run(&self, tx: &mut Tx) -> Result<KeyRecord, OperationError> {
        existing_key(tx, self.workspace, self.id).await
    }
}

/// The key of a caller, with the name of its workspace.
pub struct ReadCaller {
    pub workspace: WorkspaceId,
    pub id: KeyId,
}

impl Operation for ReadCaller {
    type Output = (KeyRecord, String);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let found = key::find_with_workspace(tx, self.workspace, self.id).await?;
        Ok(found.ok_or_else(|| Problem::not_found("key", self.id))?)
    }
}

/// Makes a new key in the place of an old one, which goes on working for a while.
pub struct RotateKey {
    pub actor: Actor,
    pub id: KeyId,
    pub overlap_millis: i64,
    pub secret: Secret,
}

impl Operation for RotateKey {
    type Output = CreatedKey;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CreatedKey, OperationError> {
        let Self { actor, id, overlap_millis, secret } = self;
        // So that nobody revokes it meanwhile.
        workspace::lock(tx, actor.workspace).await?;
        let old = existing_key(tx, actor.workspace, *id).await?;
        if !old.is_usable(tx.now()) {
            return Err(Problem::new(
                ErrorCode::NotFound,
                format!("The key {id} is revoked or expired; create a new one."),
            )
            .into());
        }
        if let Some(newer) = old.replaced_by {
            let message = format!(
                "The key {id} was already rotated; rotate {newer}, which replaced it, or create a \
                 new one."
            );
            return Err(Problem::new(ErrorCode::KeyReplaced, message.clone())
                .with(FieldError::about("id", message, newer))
                .into());
        }
        let new = NewKey { name: old.name, scope: old.scope, expires_at: old.expires_at };
        let created = insert(tx, actor, &new, secret, Some(*id)).await?;
        let end = tx.now().plus_millis(*overlap_millis);
        let end = old.expires_at.map_or(end, |expiry| expiry.min(end));
        key::replace(tx, actor.workspace, *id, created.key.id, end).await?;
        emit::key_rotated(tx, actor, *id, old.expires_at, end, created.key.id).await?;
        Ok(created)
    }
}

/// Refuses a key from now on. One that is revoked stays as it is.
pub struct RevokeKey {
    pub actor: Actor,
    pub id: KeyId,
}

impl Operation for RevokeKey {
    type Output = KeyRecord;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<KeyRecord, OperationError> {
        let workspace = self.actor.workspace;
        // So that of two who revoke it only one tells.
        workspace::lock(tx, workspace).await?;
        let mut revoked = existing_key(tx, workspace, self.id).await?;
        if revoked.revoked_at.is_none() {
            key::revoke(tx, workspace, self.id).await?;
            emit::key_revoked(tx, &self.actor, self.id).await?;
            revoked.revoked_at = Some(tx.now());
        }
        Ok(revoked)
    }
}

/// The key that a caller showed, if it is one of that workspace. As work it names none, since a
/// command may have made the key a moment ago.
pub struct FindKey {
    pub workspace: WorkspaceId,
    pub hash: KeyHash,
}

impl Operation for FindKey {
    type Output = Option<KeyRecord>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<KeyRecord>, OperationError> {
        Ok(key::find_by_hash(tx, self.workspace, &self.hash).await?)
    }
}

/// Notes when keys were last used.
pub struct TouchKeys {
    pub used: Vec<(WorkspaceId, KeyId, Timestamp)>,
}

impl Operation for TouchKeys {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        // In order, so that of two servers none waits for the other for ever.
        let mut used = self.used.clone();
        used.sort_unstable();
        for (workspace, id, used_at) in &used {
            key::touch(tx, *workspace, *id, *used_at).await?;
        }
        Ok(())
    }
}
