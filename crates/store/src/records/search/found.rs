//! What is indexed of some persons, as a table `found` of a statement.

use crate::records::statement::FENCE;
use crate::tx::Tx;

/// What is indexed of those whose ids are selected, as `found`: one after the other, and not by an
/// index of words.
pub(crate) fn documents_of(tx: &Tx, ids: &str) -> String {
    match tx.is_embedded() {
        true => format!(
            "({ids}) led CROSS JOIN search_document found ON found.workspace_id = ?1 AND \
             found.person_id = led.id"
        ),
        false => format!(
            "({ids}) led CROSS JOIN LATERAL \
             (SELECT d.person_id, d.words FROM search_document d WHERE d.workspace_id = ?1 AND \
             d.person_id = led.id LIMIT 1) found"
        ),
    }
}

/// What is indexed of those whose ids meet the conditions, as `found`.
pub(crate) fn documents_between(conditions: &[String]) -> String {
    let conditions = conditions.join(" AND ");
    format!(
        "(SELECT person_id, words FROM search_document WHERE workspace_id = ?1 AND {conditions} \
         {FENCE}) found"
    )
}
