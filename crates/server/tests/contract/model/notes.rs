//! Notes on persons in the model.

use serde_json::{Value, json};

use super::answers::{Outcome, Page, Query, Refusal, message, record};
use super::fields::{Form, check, expect_given, text};
use super::learned::{number, placeholder};
use super::world::World;

#[derive(Clone, PartialEq)]
pub struct Note {
    pub body: String,
    created: String,
    updated: String,
}

const FIELDS: &[(&str, Form)] = &[("body", Form::Text)];

fn show(number: u64, note: &Note) -> Value {
    json!({
        "id": placeholder("nte", number),
        "body": note.body,
        "key_id": placeholder("key", 0),
        "created_at": note.created,
        "updated_at": note.updated,
    })
}

fn body_in(body: &Value) -> Result<String, Refusal> {
    check(body, FIELDS)?;
    expect_given(body, "body")?;
    Ok(text(body, "body").unwrap_or_default())
}

impl World {
    fn note(&self, person: &str, note: &str) -> Result<(u64, u64), Refusal> {
        let person = self.person(person)?;
        let note =
            number("nte", note).filter(|note| self.persons[&person].notes.contains_key(note));
        note.map(|note| (person, note)).ok_or_else(Refusal::not_found)
    }

    fn notes_of(&mut self, person: u64) -> &mut std::collections::BTreeMap<u64, Note> {
        &mut self.persons.get_mut(&person).unwrap().notes
    }

    pub fn insert_note(&mut self, person: u64, body: &str) -> u64 {
        let (number, at) = (self.next(), self.moment());
        self.notes_of(person)
            .insert(number, Note { body: body.to_owned(), created: at.clone(), updated: at });
        number
    }

    /// Emits the change of a note, which counts as a change of the person.
    fn emit_note(&mut self, kind: &'static str, person: u64, before: &Value, after: &Value) {
        let updated = self.moment();
        self.persons.get_mut(&person).unwrap().updated = updated;
        let shown = |note: &Value| if note.is_null() { json!({}) } else { json!({ "note": note }) };
        self.emit(
            kind,
            placeholder("per", person),
            Some(person),
            json!({ "before": shown(before), "after": shown(after) }),
        );
    }

    pub fn list_notes(&mut self, person: &str, query: &Query<'_>) -> Outcome {
        let page = Page::read(query, &[])?;
        let person = self.person(person)?;
        let entries = self.persons[&person]
            .notes
            .iter()
            .map(|(number, note)| (*number, show(*number, note)))
            .collect();
        self.page(&page, entries, false)
    }

    pub fn add_note(&mut self, person: &str, body: &Value) -> Outcome {
        let text = body_in(body)?;
        let person = self.person(person)?;
        let number = self.insert_note(person, &text);
        let added = show(number, &self.persons[&person].notes[&number]);
        self.emit_note("person.note_added", person, &Value::Null, &added);
        record(201, added)
    }

    pub fn update_note(&mut self, person: &str, note: &str, body: &Value) -> Outcome {
        let text = body_in(body)?;
        let (person, number) = self.note(person, note)?;
        let old = self.persons[&person].notes[&number].clone();
        if old.body == text {
            return record(200, show(number, &old));
        }
        let new = Note { body: text, updated: self.moment(), ..old.clone() };
        let (before, after) = (show(number, &old), show(number, &new));
        self.notes_of(person).insert(number, new);
        self.emit_note("person.note_updated", person, &before, &after);
        record(200, after)
    }

    pub fn delete_note(&mut self, person: &str, note: &str) -> Outcome {
        let (person, number) = self.note(person, note)?;
        let before = show(number, &self.persons[&person].notes[&number]);
        self.notes_of(person).remove(&number);
        self.persons.get_mut(&person).unwrap().former_notes.push(number);
        self.emit_note("person.note_deleted", person, &before, &Value::Null);
        message("The note was deleted.")
    }
}
