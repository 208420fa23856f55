//! One transaction, whatever engine it runs on. Work sees nothing else of the store.

use model::clock::Timestamp;
use model::id::{Id, Kind};

use crate::error::StoreError;
use crate::row::{Param, Row};
use crate::sqlite::SqliteTx;

pub struct Tx {
    arm: Arm,
    now: Timestamp,
    last_id: [u8; 16],
}

pub(crate) enum Arm {
    Sqlite(SqliteTx),
}

impl Tx {
    pub(crate) const fn new(arm: Arm) -> Self {
        Self { arm, now: Timestamp::from_millis(0), last_id: [0; 16] }
    }

    /// Fixes the time for the work that comes next. It never runs backwards.
    pub(crate) fn start_work(&mut self) {
        self.now = Timestamp::now().max(self.now);
    }

    pub(crate) const fn sqlite(&mut self) -> &mut SqliteTx {
        match &mut self.arm {
            Arm::Sqlite(tx) => tx,
        }
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
    }

    /// A new id that sorts behind all those made here before.
    pub fn new_id<K: Kind>(&mut self) -> Id<K> {
        let id = Id::after(Id::from_bytes(self.last_id), self.now, rand::random());
        self.last_id = id.to_bytes();
        id
    }

    /// A new id that sorts behind `last` as well, which another server may have made.
    pub fn new_id_after<K: Kind>(&mut self, last: Option<Id<K>>) -> Id<K> {
        match last {
            Some(last) => Id::after(last, self.now, rand::random()),
            None => self.new_id(),
        }
    }

    pub async fn rows<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T, StoreError> + Send,
    ) -> Result<Vec<T>, StoreError> {
        match &mut self.arm {
            Arm::Sqlite(tx) => tx.rows(sql, params, map),
        }
    }

    pub async fn row<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        map: impl FnOnce(&Row<'_>) -> Result<T, StoreError> + Send,
    ) -> Result<Option<T>, StoreError> {
        match &mut self.arm {
            Arm::Sqlite(tx) => tx.row(sql, params, map),
        }
    }

    /// Runs a statement that gives no rows; says how many it touched.
    pub async fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<usize, StoreError> {
        match &mut self.arm {
            Arm::Sqlite(tx) => tx.execute(sql, params),
        }
    }
}
