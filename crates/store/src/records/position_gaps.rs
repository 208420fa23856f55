//! Places on a job that candidates left. They stay empty, so that whoever takes one off a long list
//! does not move all behind it; a page by offset is found by how many are empty in each stretch of
//! places.

use slated_model::id::{CandidateId, JobId, WorkspaceId};

use crate::error::StoreError;
use crate::params;
use crate::tx::Tx;

/// Places in a stretch: 1 to 1,024 are the first.
const STRETCH: i64 = 1024;

/// How many places are empty in each stretch that has such, in order.
pub(super) struct Gaps(Vec<(i64, i64)>);

/// Where a record of a list stands: so many records behind a place.
#[derive(PartialEq, Eq, Debug)]
struct Behind {
    place: i64,
    records: i64,
}

impl Gaps {
    pub(super) async fn of_job(
        tx: &mut Tx,
        workspace: WorkspaceId,
        job: JobId,
    ) -> Result<Self, StoreError> {
        let sql = "SELECT stretch, count FROM candidate_gap WHERE workspace_id = ?1 AND job_id = \
            ?2 ORDER BY stretch";
        Ok(Self(tx.rows(sql, params![workspace, job], |row| Ok((row.int(0)?, row.int(1)?))).await?))
    }

    /// The place of the record that has so many before it.
    pub(super) async fn place_of(
        &self,
        tx: &mut Tx,
        workspace: WorkspaceId,
        job: JobId,
        number: i64,
    ) -> Result<Option<i64>, StoreError> {
        let Behind { place, records } = self.find(number);
        let sql = format!(
            "SELECT position FROM candidate WHERE workspace_id = ?1 AND job_id = ?2 AND position \
             > ?3 ORDER BY position LIMIT 1 OFFSET {records}"
        );
        tx.row(&sql, params![workspace, job, place], |row| row.int(0)).await
    }

    fn find(&self, number: i64) -> Behind {
        let mut empty_before = 0;
        for (stretch, empty) in &self.0 {
            let first = stretch * STRETCH;
            if number < first - empty_before {
                break;
            }
            if number < first + STRETCH - empty_before - empty {
                return Behind { place: first, records: number - (first - empty_before) };
            }
            empty_before += empty;
        }
        Behind { place: number + empty_before, records: 0 }
    }
}

/// Notes that the place of a candidate will be empty.
pub(super) async fn leave(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    id: CandidateId,
) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO candidate_gap (workspace_id, job_id, stretch, count) \
         SELECT workspace_id, job_id, (position - 1) / {STRETCH}, 1 FROM candidate WHERE \
         workspace_id = ?1 AND job_id = ?2 AND id = ?3 \
         ON CONFLICT (workspace_id, job_id, stretch) DO UPDATE SET count = candidate_gap.count + 1"
    );
    tx.execute_deferred(&sql, params![workspace, job, id]).await
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_record_is_found_from_a_place_near_it(places in 1_i64..6 * STRETCH,
            empty in btree_set(1_i64..6 * STRETCH, 0..3000)) {
            let empty: BTreeSet<_> = empty.into_iter().filter(|place| *place <= places).collect();
            let mut stretches = BTreeMap::new();
            empty.iter().for_each(|place| *stretches.entry((place - 1) / STRETCH).or_default() += 1);
            let gaps = Gaps(stretches.into_iter().collect());
            let records: Vec<_> = (1..=places).filter(|place| !empty.contains(place)).collect();
            for (number, record) in records.iter().enumerate() {
                let Behind { place, records: skipped } = gaps.find(number as i64);
                prop_assert!(skipped < STRETCH);
                let found = records[records.partition_point(|other| *other <= place)..].get(skipped as usize);
                prop_assert_eq!(found, Some(record));
            }
        }
    }
}
