//! Where in a directory a person stands. Only places are kept in memory; a line is read when
//! somebody asks for it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, stderr};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use serde_json::Value;
use slated_model::enrichment::Question;

use super::keys::{self, Key, KeyKind};
use crate::progress::Progress;

const MAX_LINE_LENGTH: usize = 256 * 1024;
/// A larger file takes long enough that somebody may wonder.
const LARGE: u64 = 64 * 1024 * 1024;
/// Lines that are told of one by one.
const MAX_TOLD: u64 = 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    offset: u64,
    /// 0 if several lines have the key.
    length: u32,
}

enum Source {
    File(File),
    Embedded(&'static str),
}

/// By which a file is seen to be another one than before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    modified: (i64, i64),
    length: u64,
    inode: (u64, u64),
}

impl Stamp {
    pub fn of(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|metadata| Self::from(&metadata))
    }
}

impl From<&std::fs::Metadata> for Stamp {
    fn from(metadata: &std::fs::Metadata) -> Self {
        Self {
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            length: metadata.size(),
            inode: (metadata.dev(), metadata.ino()),
        }
    }
}

pub struct Index {
    source: Source,
    places: HashMap<u64, Place>,
    pub persons: u64,
}

/// What a question finds.
#[derive(Clone, PartialEq, Debug)]
pub enum Found {
    Profile(Value),
    Nobody,
    /// Something else stands where the person was.
    Stale,
}

impl Index {
    /// `is_first` if somebody waits for it.
    pub fn of_file(path: &Path, is_first: bool) -> io::Result<(Self, Stamp)> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::other("it is a folder"));
        }
        let stamp = Stamp::from(&metadata);
        let is_shown = is_first && metadata.size() > LARGE && stderr().is_terminal();
        let mut progress = is_shown
            .then(|| Progress::start(format!("Indexing {}", path.display()), metadata.size()));
        let mut reading = Reading { name: path.display().to_string(), ..Reading::default() };
        reading.read(&mut BufReader::with_capacity(MAX_LINE_LENGTH, &file), |done| {
            if let Some(progress) = &mut progress {
                progress.show(done);
            }
        })?;
        if let Some(progress) = progress {
            progress.finish();
        }
        Ok((reading.into_index(Source::File(file)), stamp))
    }

    pub fn of_text(name: &str, text: &'static str) -> Self {
        let mut reading = Reading { name: name.to_owned(), ..Reading::default() };
        // Memory can always be read.
        let _ = reading.read(&mut text.as_bytes(), |_| {});
        reading.into_index(Source::Embedded(text))
    }

    /// The line under the first of the keys that has one which is about the person.
    pub fn find(&self, question: &Question) -> io::Result<Found> {
        let asked = keys::of_question(question);
        for key in &asked {
            let Some(place) = self.places.get(&key.hash()).filter(|place| place.length > 0) else {
                continue;
            };
            let line = self.line(*place)?;
            let Some(there) = keys::of_line(&line).filter(|there| there.contains(key)) else {
                return Ok(Found::Stale);
            };
            if keys::is_same_person(key, &asked, &there) {
                return Ok(serde_json::from_slice(&line).map_or(Found::Stale, Found::Profile));
            }
        }
        Ok(Found::Nobody)
    }

    fn line(&self, place: Place) -> io::Result<Vec<u8>> {
        let length = place.length as usize;
        match &self.source {
            Source::File(file) => {
                let mut line = vec![0; length];
                file.read_exact_at(&mut line, place.offset)?;
                Ok(line)
            }
            Source::Embedded(text) => {
                let start = usize::try_from(place.offset).unwrap_or(usize::MAX);
                Ok(text
                    .as_bytes()
                    .get(start..start.saturating_add(length))
                    .unwrap_or_default()
                    .to_vec())
            }
        }
    }
}

/// Goes through a file once.
#[derive(Default)]
struct Reading {
    name: String,
    places: HashMap<u64, Place>,
    persons: u64,
    number: u64,
    left_out: u64,
}

impl Reading {
    fn read(&mut self, reader: &mut impl BufRead, mut show: impl FnMut(u64)) -> io::Result<()> {
        let mut offset = 0;
        let mut line = Vec::new();
        while let Some(length) = next_line(reader, &mut line)? {
            self.number += 1;
            let mark = match offset == 0 && line.starts_with(BYTE_ORDER_MARK) {
                true => BYTE_ORDER_MARK.len(),
                false => 0,
            };
            self.take(offset + mark as u64, &line[mark..], length);
            offset += length;
            if self.number.is_multiple_of(1024) {
                show(offset);
            }
        }
        if self.left_out > MAX_TOLD {
            tracing::warn!(
                directory = self.name,
                lines = self.left_out,
                "lines of a directory are skipped; only the first are logged"
            );
        }
        Ok(())
    }

    /// `length` is what the line really has, with its end.
    fn take(&mut self, offset: u64, line: &[u8], length: u64) {
        if length > MAX_LINE_LENGTH as u64 + 1 {
            return self.leave_out("it is longer than 256 KiB");
        }
        if line.trim_ascii().is_empty() {
            return;
        }
        let Some(keys) = keys::of_line(line) else {
            return self.leave_out(
                "it is not a JSON \
            object",
            );
        };
        let place = Place { offset, length: u32::try_from(line.len()).unwrap_or(0) };
        self.persons += 1;
        keys.iter().for_each(|key| self.keep(key, place));
    }

    /// Of two lines with the same key the later one counts; of two who share name and company,
    /// neither.
    fn keep(&mut self, key: &Key, place: Place) {
        match self.places.entry(key.hash()) {
            Entry::Vacant(entry) => {
                entry.insert(place);
            }
            Entry::Occupied(mut entry) if key.kind == KeyKind::NameAtCompany => {
                entry.get_mut().length = 0
            }
            Entry::Occupied(mut entry) => {
                entry.insert(place);
            }
        }
    }

    fn leave_out(&mut self, reason: &str) {
        self.left_out += 1;
        if self.left_out <= MAX_TOLD {
            tracing::warn!(
                directory = self.name,
                line = self.number,
                reason,
                "a line of a directory is skipped"
            );
        }
    }

    fn into_index(mut self, source: Source) -> Index {
        self.places.shrink_to_fit();
        Index { source, places: self.places, persons: self.persons }
    }
}

/// Reads up to the end of the line, without keeping more of it than a line may have. Gives the
/// bytes that it took, with the end; none when nothing is left.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    let mut length = 0;
    loop {
        let available = reader.fill_buf()?;
        if available.is_empty() {
            return Ok((length > 0).then_some(length));
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        let room = MAX_LINE_LENGTH.saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let taken = part.len() + usize::from(end.is_some());
        reader.consume(taken);
        length += taken as u64;
        if end.is_some() {
            return Ok(Some(length));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn by_handle(handle: &str) -> Question {
        Question { social_public_id: handle.to_owned(), ..Question::default() }
    }

    fn line(handle: &str, title: &str) -> String {
        json!({ "social_url": format!("https://social.example/in/{handle}"),
            "current_job_title": title })
        .to_string()
    }

    /// An index over a file of that name and contents, which is gone afterwards.
    fn with_file<T>(name: &str, contents: &[u8], look: impl FnOnce(&Path, &Index) -> T) -> T {
        let path = std::env::temp_dir().join(format!("slated-index-{}-{name}", std::process::id()));
        std::fs::write(&path, contents).unwrap();
        let (index, _) = Index::of_file(&path, true).unwrap();
        let seen = look(&path, &index);
        let _ = std::fs::remove_file(&path);
        seen
    }

    fn title(index: &Index, question: &Question) -> Option<String> {
        match index.find(question).unwrap() {
            Found::Profile(profile) => {
                Some(profile["current_job_title"].as_str().unwrap().to_owned())
            }
            Found::Nobody => None,
            Found::Stale => panic!("stale"),
        }
    }

    #[test]
    fn persons_are_found_by_what_is_known_of_them() {
        let text = "{\"external_source_id\": \"x-1\", \"current_job_title\": \"one\"}\n\n\
                    {\"emails\": [\"b@x.com\"], \"current_job_title\": \"two\"}\r\n\
                    {\"name\": \"Cy Young\", \"company_name\": \"Acme\", \"current_job_title\": \
                    \"three\"}";
        with_file("known", text.as_bytes(), |_, index| {
            assert_eq!(index.persons, 3);
            let question = |change: fn(&mut Question)| {
                let mut question = Question::default();
                change(&mut question);
                title(index, &question)
            };
            assert_eq!(
                question(|asked| asked.external_source_id = "x-1".to_owned()).as_deref(),
                Some("one")
            );
            assert_eq!(
                question(|asked| asked.emails = vec!["a@x.com".to_owned(), "B@x.com".to_owned()])
                    .as_deref(),
                Some("two")
            );
            assert_eq!(question(|asked| asked.name = "cy  young".to_owned()), None);
            let named = Question {
                name: "cy  young".to_owned(),
                company_name: "ACME".to_owned(),
                ..Question::default()
            };
            assert_eq!(title(index, &named).as_deref(), Some("three"));
            assert_eq!(title(index, &by_handle("nobody")), None);
        });
    }

    #[test]
    fn what_says_most_of_a_person_is_tried_first() {
        let told = |title: &str, more: Value| {
            let mut told = json!({ "current_job_title": title });
            told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            told.to_string()
        };
        let lines = [
            told("name", json!({ "name": "Ada", "company_name": "Acme" })),
            told("outside", json!({ "external_source_id": "x-1" })),
            told("e-mail", json!({ "emails": ["a@x.com"] })),
            told("handle", json!({ "social_url": "https://social.example/in/ada" })),
        ];
        with_file("order", lines.join("\n").as_bytes(), |_, index| {
            let mut asked = Question {
                name: "Ada".to_owned(),
                company_name: "Acme".to_owned(),
                social_public_id: "ada".to_owned(),
                emails: vec!["a@x.com".to_owned()],
                external_source_id: "x-1".to_owned(),
                ..Question::default()
            };
            assert_eq!(title(index, &asked).as_deref(), Some("handle"));
            asked.social_public_id.clear();
            assert_eq!(title(index, &asked).as_deref(), Some("e-mail"));
            asked.emails.clear();
            assert_eq!(title(index, &asked).as_deref(), Some("outside"));
            asked.external_source_id.clear();
            assert_eq!(title(index, &asked).as_deref(), Some("name"));
        });
    }

    #[test]
    fn a_line_about_somebody_else_is_passed_over_for_the_next() {
        let lines = [
            json!({ "external_source_id": "x-1", "social_url": "https://social.example/in/bob",
                "current_job_title": "one" }),
            json!({ "name": "Ada", "company_name": "Acme", "emails": ["a@x.com"],
                "current_job_title": "two" }),
        ];
        with_file("else", lines.map(|line| line.to_string()).join("\n").as_bytes(), |_, index| {
            let named = Question {
                name: "Ada".to_owned(),
                company_name: "Acme".to_owned(),
                ..Question::default()
            };
            let outside =
                |asked: Question| Question { external_source_id: "x-1".to_owned(), ..asked };
            let by_email =
                |email: &str| Question { emails: vec![email.to_owned()], ..named.clone() };
            assert_eq!(title(index, &outside(Question::default())).as_deref(), Some("one"));
            assert_eq!(title(index, &outside(by_handle("bob"))).as_deref(), Some("one"));
            assert_eq!(title(index, &outside(by_handle("ada"))), None);
            assert_eq!(title(index, &by_email("b@x.com")), None);
            assert_eq!(title(index, &by_email("A@x.com")).as_deref(), Some("two"));
            let next = Question { social_public_id: "ada".to_owned(), ..outside(named) };
            assert_eq!(title(index, &next).as_deref(), Some("two"));
        });
    }

    #[test]
    fn the_later_line_counts_and_names_must_be_unique() {
        let named = |title: &str| {
            json!({ "name": "Ada", "company_name": "Acme", "current_job_title": title }).to_string()
        };
        let text =
            [line("ada", "old"), line("ada", "new"), named("one"), named("other")].join("\n");
        with_file("twice", text.as_bytes(), |_, index| {
            assert_eq!(title(index, &by_handle("ada")).as_deref(), Some("new"));
            let asked = Question {
                name: "Ada".to_owned(),
                company_name: "Acme".to_owned(),
                ..Question::default()
            };
            assert_eq!(title(index, &asked), None);
        });
    }

    #[test]
    fn lines_that_cannot_be_read_are_left_out() {
        let long = format!(
            "{{\"social_url\": \"https://social.example/in/long\", \"x\": \"{}\"}}",
            "x".repeat(MAX_LINE_LENGTH)
        );
        let mut contents = BYTE_ORDER_MARK.to_vec();
        let lines = [
            line("first", "1"),
            "nonsense".to_owned(),
            long,
            "\u{0}".to_owned(),
            line("last", "2"),
        ];
        contents.extend_from_slice(lines.join("\n").as_bytes());
        contents.extend_from_slice(b"\n\xff\xfe\n");
        with_file("broken", &contents, |_, index| {
            assert_eq!(index.persons, 2);
            assert_eq!(title(index, &by_handle("first")).as_deref(), Some("1"));
            assert_eq!(title(index, &by_handle("last")).as_deref(), Some("2"));
            assert_eq!(title(index, &by_handle("long")), None);
        });
    }

    #[test]
    fn a_file_that_was_written_over_is_noticed() {
        with_file("stale", line("ada", "Analyst").as_bytes(), |path, index| {
            let before = Stamp::of(path).unwrap();
            std::fs::write(path, line("bob", "Another")).unwrap();
            assert_eq!(index.find(&by_handle("ada")).unwrap(), Found::Stale);
            std::fs::write(path, "short").unwrap();
            assert!(index.find(&by_handle("ada")).is_err());
            assert_ne!(Stamp::of(path).unwrap(), before);
        });
    }

    #[test]
    fn a_text_is_a_directory_too() {
        let text = "{\"external_source_id\": \"a\", \"current_job_title\": \
            \"one\"}\n{\"external_source_id\": \"b\"}\n";
        let index = Index::of_text("test", text);
        let asked =
            |id: &str| Question { external_source_id: id.to_owned(), ..Question::default() };
        assert_eq!(title(&index, &asked("a")).as_deref(), Some("one"));
        assert_eq!(
            index.find(&asked("b")).unwrap(),
            Found::Profile(json!({ "external_source_id": "b" }))
        );
        assert_eq!(index.find(&asked("c")).unwrap(), Found::Nobody);
    }

    #[test]
    fn a_missing_file_is_an_error() {
        assert!(Index::of_file(Path::new("/nowhere/people.jsonl"), true).is_err());
        assert!(Index::of_file(&std::env::temp_dir(), true).is_err());
    }
}
