//! At which row the embedded engine keeps a person. It follows from the id, so that who knows that
//! finds them without a look at an index. That is no more than a help: should the row be taken,
//! they get another, and whoever is not at their place is found by the index.

/// The row for a new person whose id is given by that expression; nothing if it is taken, and then
/// the engine takes the next.
pub(crate) fn free_place(id: &str) -> String {
    format!(
        "(SELECT place_of({id}) WHERE NOT EXISTS (SELECT 1 FROM person WHERE rowid = \
         place_of({id})))"
    )
}

#[cfg(test)]
mod tests {
    use slated_model::clock::Timestamp;
    use slated_model::contact::{Channel, Contacts};
    use slated_model::id::{PersonId, WorkspaceId};
    use slated_model::input::read_body;
    use slated_model::person::{NewPerson, OnInvalid};

    use crate::driver::sqlite::scratch_file::ScratchFile;
    use crate::error::OperationError;
    use crate::operation::Operation;
    use crate::options::Options;
    use crate::params;
    use crate::purpose::Purpose;
    use crate::records::person::{PersonView, insert, view};
    use crate::store::{Location, Store};
    use crate::tx::Tx;

    /// Keeps two persons for whom there is one place, and reads them.
    struct KeepBoth {
        workspace: WorkspaceId,
        ids: [PersonId; 2],
    }

    impl Operation for KeepBoth {
        type Output = Vec<PersonView>;

        async fn run(&self, tx: &mut Tx) -> Result<Vec<PersonView>, OperationError> {
            let workspace = "INSERT INTO workspace (workspace_id, name, name_key, created_at) \
                VALUES (?1, 'main', 'main', ?2)";
            tx.execute_deferred(workspace, params![self.workspace, tx.now()]).await?;
            let no_contacts = [Channel::Email, Channel::Phone]
                .map(|channel| Contacts::from_stored(channel, "[]"))
                .into();
            let new = read_body(br#"{"name": "Ada Lovelace"}"#, |fields| {
                NewPerson::read(fields, OnInvalid::Refuse, |_| no_contacts)
            })?;
            for id in self.ids {
                insert(tx, self.workspace, &new.clone().into_person(id, None)).await?;
            }
            let mut views = Vec::new();
            for id in self.ids {
                views.extend(view(tx, self.workspace, id).await?);
            }
            let at_place = "SELECT id FROM person WHERE rowid = place_of(id)";
            let at_place: Vec<PersonId> = tx.rows(at_place, &[], |row| row.id(0)).await?;
            assert_eq!(at_place, self.ids[..1]);
            Ok(views)
        }
    }

    #[test]
    fn a_person_whose_place_is_taken_gets_another() {
        let file = ScratchFile::new("place");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ids =
            [1, 2].map(|random| PersonId::at(Timestamp::from_millis(1_700_000_000_000), random));
        assert_eq!(ids[0].number(), ids[1].number());
        let views = runtime.block_on(async {
            let store = Store::open(
                &Location::Sqlite(file.path.clone()),
                Purpose::Command,
                &Options::default(),
            )
            .await
            .unwrap();
            store.write(KeepBoth { workspace: WorkspaceId::from_number(1), ids }).await.unwrap()
        });
        assert_eq!(views.iter().map(|view| view.id).collect::<Vec<_>>(), ids);
    }
}
