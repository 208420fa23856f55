//! One transaction, whatever engine it runs on. An operation sees nothing else of the store.

use std::sync::Arc;

use slated_model::clock::Timestamp;
use slated_model::event::{EventType, Hash, Subject};
use slated_model::id::{Id, Kind, WorkspaceId};

use crate::buffered_event::BufferedEvent;
use crate::commit_notifier::Committed;
use crate::driver::param::Param;
use crate::driver::postgres::read_batcher::ReadBatcher;
use crate::driver::postgres::transaction::PostgresTx;
use crate::driver::row::Row;
use crate::driver::sqlite::connection::SqliteTx;
use crate::driver::sqlite::fts_changes::FtsChanges;
use crate::error::StoreError;

pub struct Tx {
    connection: Connection,
    now: Timestamp,
    /// The work chose its moment itself.
    is_set: bool,
    last_id: [u8; 16],
    /// The workspaces that have new events.
    changed_workspaces: Vec<(WorkspaceId, Committed)>,
    /// Events of a workspace that wait for the end of the work, if it is one at whose end they are
    /// numbered.
    kept: Option<(WorkspaceId, Vec<BufferedEvent>)>,
    /// Where the log of a workspace ends, for as long as nobody else can write to it.
    log_end: Option<(WorkspaceId, i64, Hash)>,
    /// What the work told, if it is only tried out.
    trial: Option<Vec<Tried>>,
    is_wal_to_be_truncated: bool,
    fts_changes: FtsChanges,
}

/// An event that would have been told.
#[derive(Clone, Debug)]
pub struct Tried {
    pub kind: EventType,
    pub subject: Subject,
    /// JSON.
    pub data: String,
}

pub(crate) enum Connection {
    Sqlite(SqliteTx),
    Postgres(Box<PostgresTx>),
    /// One look, which goes together with those of others.
    Batched(Arc<ReadBatcher>),
}

/// A statement that was asked without waiting for its rows. Over a network, all that is asked
/// before the first answer is taken costs one round trip; an embedded engine has answered at once.
pub struct Asked<T>(Answer<T>);

enum Answer<T> {
    Known(Vec<T>),
    Awaited { ticket: usize, map: fn(&Row<'_>) -> Result<T, StoreError> },
}

impl<T> Asked<T> {
    /// A question whose answer is known.
    #[must_use]
    pub const fn known(rows: Vec<T>) -> Self {
        Self(Answer::Known(rows))
    }
}

impl Tx {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            now: Timestamp::from_millis(0),
            is_set: false,
            last_id: [0; 16],
            changed_workspaces: Vec::new(),
            kept: None,
            log_end: None,
            trial: None,
            is_wal_to_be_truncated: false,
            fts_changes: FtsChanges::default(),
        }
    }

    /// Fixes the time for the work that comes next. It never runs backwards.
    pub(crate) fn start_work(&mut self) {
        self.now = Timestamp::now().max(self.now);
        self.is_set = false;
    }

    pub(crate) fn sqlite(&mut self) -> &mut SqliteTx {
        match &mut self.connection {
            Connection::Sqlite(tx) => tx,
            Connection::Postgres(_) | Connection::Batched(_) => {
                unreachable!("the embedded engine runs its own transactions only")
            }
        }
    }

    pub(crate) fn into_postgres(self) -> Result<Box<PostgresTx>, StoreError> {
        match self.connection {
            Connection::Postgres(tx) => Ok(tx),
            Connection::Sqlite(_) | Connection::Batched(_) => {
                Err(StoreError::Internal("the transaction belongs to another engine".to_owned()))
            }
        }
    }

    /// One writer at a time, and no network in between.
    pub(crate) const fn is_embedded(&self) -> bool {
        matches!(self.connection, Connection::Sqlite(_))
    }

    /// Lets whoever passes events on look at the workspace once this work is done.
    pub fn notify(&mut self, workspace: WorkspaceId) {
        self.note_changed(workspace, Committed::Numbered);
    }

    /// The same where something has to be numbered first.
    pub(crate) fn notify_unnumbered(&mut self, workspace: WorkspaceId) {
        self.note_changed(workspace, Committed::Unnumbered);
    }

    fn note_changed(&mut self, workspace: WorkspaceId, news: Committed) {
        match self.changed_workspaces.iter_mut().find(|(told, _)| *told == workspace) {
            Some((_, told)) => *told = news.max(*told),
            None => self.changed_workspaces.push((workspace, news)),
        }
    }

    /// From here on events of the workspace are kept until the work appends them to the log, with
    /// their numbers, at its end. From then on whoever numbers others waits for its commit, so it
    /// is for work that makes many. An embedded engine numbers events at once.
    pub fn buffer_events(&mut self, workspace: WorkspaceId) {
        if !self.is_embedded() {
            self.kept = Some((workspace, Vec::new()));
        }
    }

    /// Where events of the workspace are kept, if they are.
    pub(crate) fn buffered_events(
        &mut self,
        workspace: WorkspaceId,
    ) -> Option<&mut Vec<BufferedEvent>> {
        self.kept.as_mut().filter(|(of, _)| *of == workspace).map(|(_, kept)| kept)
    }

    pub fn has_buffered_events(&self) -> bool {
        self.kept.as_ref().is_some_and(|(_, kept)| !kept.is_empty())
    }

    pub(crate) const fn take_buffered_events(
        &mut self,
    ) -> Option<(WorkspaceId, Vec<BufferedEvent>)> {
        self.kept.take()
    }

    /// Where the log of the workspace ends, if this transaction wrote to it last.
    pub(crate) fn log_end(&self, workspace: WorkspaceId) -> Option<(i64, Hash)> {
        self.log_end
            .filter(|(known, ..)| *known == workspace)
            .map(|(_, sequence, hash)| (sequence, hash))
    }

    pub(crate) const fn set_log_end(&mut self, workspace: WorkspaceId, sequence: i64, hash: Hash) {
        self.log_end = Some((workspace, sequence, hash));
    }

    /// A transaction begins, or something in it was undone.
    pub(crate) const fn forget_log_end(&mut self) {
        self.log_end = None;
    }

    /// From here on the work is only tried out.
    pub(crate) fn begin_trial(&mut self) {
        self.trial = Some(Vec::new());
    }

    /// Ends a trial: what it told, if there was one.
    pub(crate) fn end_trial(&mut self) -> Vec<Tried> {
        self.trial.take().unwrap_or_default()
    }

    pub(crate) fn note_trial(&mut self, kind: EventType, subject: Subject, data: &str) {
        if let Some(trial) = &mut self.trial {
            trial.push(Tried { kind, subject, data: data.to_owned() });
        }
    }

    /// Changes to the embedded index of words that wait for the commit.
    pub(crate) const fn fts_changes(&mut self) -> &mut FtsChanges {
        &mut self.fts_changes
    }

    /// Makes them.
    pub(crate) fn apply_fts_changes(&mut self) -> Result<(), StoreError> {
        std::mem::take(&mut self.fts_changes).put(self.sqlite())
    }

    /// Lets what this work deleted leave the files too, as soon as it is committed.
    pub fn truncate_wal_after_commit(&mut self) {
        self.is_wal_to_be_truncated = true;
    }

    pub(crate) fn take_truncate_wal(&mut self) -> bool {
        std::mem::take(&mut self.is_wal_to_be_truncated)
    }

    /// How many rows the statement changed, in whatever tables. Only an embedded engine knows.
    pub(crate) fn changes_of(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<u64, StoreError> {
        let tx = self.sqlite();
        let before = tx.changes();
        tx.execute(sql, params)?;
        Ok(tx.changes() - before)
    }

    /// Inserts a row, and says which number it got. Only an embedded engine numbers rows, and it
    /// tells that sooner than it returns a column.
    pub(crate) fn number_inserted(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<i64, StoreError> {
        let tx = self.sqlite();
        tx.execute(sql, params)?;
        Ok(tx.connection().last_insert_rowid())
    }

    /// The workspaces that got events since this was last asked.
    pub(crate) fn take_changed_workspaces(&mut self) -> Vec<(WorkspaceId, Committed)> {
        std::mem::take(&mut self.changed_workspaces)
    }

    /// The moment at which this work happens, even if it chose another for what it writes.
    pub fn real_now(&self) -> Timestamp {
        if self.is_set { Timestamp::now() } else { self.now }
    }

    /// The moment at which this work happens.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Lets the work happen at another moment, for data that was made elsewhere and earlier.
    pub fn set_now(&mut self, moment: Timestamp) {
        if moment < self.now {
            self.last_id = [0; 16];
        }
        self.now = moment;
        self.is_set = true;
    }

    /// A new id that sorts behind all those made here before.
    pub fn new_id<K: Kind>(&mut self) -> Id<K> {
        let id = Id::after(Id::from_bytes(self.last_id), self.now, rand::random());
        self.last_id = id.to_bytes();
        id
    }

    /// A new id that sorts behind `last` as well, which another server may have made.
    pub fn new_id_after<K: Kind>(&mut self, last: Option<Id<K>>) -> Id<K> {
        let last = last.map_or(self.last_id, |last| last.to_bytes().max(self.last_id));
        let id: Id<K> = Id::after(Id::from_bytes(last), self.now, rand::random());
        // A clock that was ahead when the last was made does not draw everything else along.
        if id.moment() <= self.now {
            self.last_id = id.to_bytes();
        }
        id
    }

    pub async fn rows<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T, StoreError> + Send,
    ) -> Result<Vec<T>, StoreError> {
        match &mut self.connection {
            Connection::Sqlite(tx) => tx.rows(sql, params, map),
            Connection::Postgres(tx) => {
                tx.query(sql, params).await?.0.iter().map(|row| map(&Row::Postgres(row))).collect()
            }
            Connection::Batched(batcher) => batcher
                .look(sql, params)
                .await?
                .iter()
                .map(|row| map(&Row::Postgres(row)))
                .collect(),
        }
    }

    pub async fn row<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        map: impl FnOnce(&Row<'_>) -> Result<T, StoreError> + Send,
    ) -> Result<Option<T>, StoreError> {
        match &mut self.connection {
            Connection::Sqlite(tx) => tx.row(sql, params, map),
            Connection::Postgres(tx) => tx
                .query(sql, params)
                .await?
                .0
                .first()
                .map(|row| map(&Row::Postgres(row)))
                .transpose(),
            Connection::Batched(batcher) => batcher
                .look(sql, params)
                .await?
                .first()
                .map(|row| map(&Row::Postgres(row)))
                .transpose(),
        }
    }

    /// A row that stays as it is until this work is done, but for what the work itself does. An
    /// embedded engine has one writer, so there every row does.
    pub async fn row_for_update<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        map: impl FnOnce(&Row<'_>) -> Result<T, StoreError> + Send,
    ) -> Result<Option<T>, StoreError> {
        match &self.connection {
            Connection::Sqlite(_) => self.row(sql, params, map).await,
            Connection::Batched(_) => Err(more_than_a_look()),
            Connection::Postgres(_) => {
                let row = self.row(&format!("{sql} FOR NO KEY UPDATE"), params, map).await;
                self.refresh_now_after_lock();
                row
            }
        }
    }

    /// It may have taken a while to get rows that are to be changed, and others changed them
    /// meanwhile. With one writer nobody does.
    pub(crate) fn refresh_now_after_lock(&mut self) {
        if !self.is_set && !self.is_embedded() {
            self.start_work();
        }
    }

    /// Runs a statement that gives no rows; says how many it touched.
    pub async fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<usize, StoreError> {
        match &mut self.connection {
            Connection::Sqlite(tx) => tx.execute(sql, params),
            Connection::Postgres(tx) => {
                Ok(usize::try_from(tx.query(sql, params).await?.1).unwrap_or(usize::MAX))
            }
            Connection::Batched(_) => Err(more_than_a_look()),
        }
    }

    /// Runs a statement without waiting for it to be done. Should it fail, the work fails later, at
    /// the latest when it is committed.
    pub async fn execute_deferred(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(tx) => tx.execute(sql, params).map(|_| ()),
            Connection::Postgres(tx) => tx.execute_deferred(sql, params).await,
            Connection::Batched(_) => Err(more_than_a_look()),
        }
    }

    pub async fn ask<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        map: fn(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Asked<T>, StoreError> {
        Ok(Asked(match &mut self.connection {
            Connection::Sqlite(tx) => Answer::Known(tx.rows(sql, params, map)?),
            Connection::Postgres(tx) => Answer::Awaited { ticket: tx.ask(sql, params).await?, map },
            Connection::Batched(_) => Answer::Known(self.rows(sql, params, map).await?),
        }))
    }

    /// Asks for a row that stays as it is until this work is done, as [`Self::row_for_update`]
    /// does.
    pub async fn ask_for_update<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        map: fn(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Asked<T>, StoreError> {
        match &self.connection {
            Connection::Sqlite(_) => self.ask(sql, params, map).await,
            Connection::Postgres(_) => {
                self.ask(&format!("{sql} FOR NO KEY UPDATE"), params, map).await
            }
            Connection::Batched(_) => Err(more_than_a_look()),
        }
    }

    /// Lets what was asked be answered while other things are made ready. An embedded engine has
    /// answered at once.
    pub async fn flush(&mut self) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(_) | Connection::Batched(_) => Ok(()),
            Connection::Postgres(tx) => tx.flush().await,
        }
    }

    /// Lets all be done that work on many rows told, before somebody else has to wait for it. An
    /// embedded engine has done it at once.
    pub async fn flush_and_wait(&mut self) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(_) | Connection::Batched(_) => Ok(()),
            Connection::Postgres(tx) => tx.flush_and_wait().await,
        }
    }

    pub async fn answer<T>(&mut self, asked: Asked<T>) -> Result<Vec<T>, StoreError> {
        match (asked.0, &mut self.connection) {
            (Answer::Known(rows), _) => Ok(rows),
            (Answer::Awaited { ticket, map }, Connection::Postgres(tx)) => {
                tx.answer(ticket).await?.iter().map(|row| map(&Row::Postgres(row))).collect()
            }
            (Answer::Awaited { .. }, Connection::Sqlite(_) | Connection::Batched(_)) => {
                Err(StoreError::Internal("the answer belongs to another engine".to_owned()))
            }
        }
    }
}

fn more_than_a_look() -> StoreError {
    StoreError::Internal("a read-only operation tried to write".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::sqlite::scratch_file::ScratchFile;
    use crate::error::OperationError;
    use crate::operation::Operation;
    use crate::options::Options;
    use crate::purpose::Purpose;
    use crate::store::{Location, Store};

    const A_DAY: i64 = 86_400_000;

    /// An operation that may choose its moment; says when it happens, and when it does indeed.
    struct Happen {
        at: Option<Timestamp>,
    }

    impl Operation for Happen {
        type Output = (Timestamp, Timestamp);

        async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
            if let Some(moment) = self.at {
                tx.set_now(moment);
            }
            Ok((tx.now(), tx.real_now()))
        }
    }

    #[tokio::test]
    async fn a_moment_that_work_chose_is_its_own() {
        let file = ScratchFile::new("moments");
        let store =
            Store::open(&Location::Sqlite(file.path.clone()), Purpose::Serve, &Options::default())
                .await
                .expect("it opens");
        let chosen = Timestamp::now().plus_millis(A_DAY);
        let (now, real_now) = store.write(Happen { at: Some(chosen) }).await.expect("it is done");
        assert!(now == chosen && real_now < chosen, "{now} {real_now}");
        let (now, real_now) = store.write(Happen { at: None }).await.expect("it is done");
        assert_eq!((now, real_now), (chosen, chosen), "time never runs backwards");
    }
}
