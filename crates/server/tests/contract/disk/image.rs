//! What a disk may hold after a power cut, made from the record of what the program did to its
//! files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;
const HEAD: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum File {
    Database,
    Log,
}

enum Entry {
    Write {
        file: File,
        offset: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        file: File,
        length: usize,
    },
    Flush(File),
    /// A flush failed, and the system forgot what it could not write.
    Forget(File),
}

/// What the program did to its files, in its order.
pub struct Record {
    entries: Vec<Entry>,
    /// Where each entry ends in the file of the record.
    ends: Vec<u64>,
}

impl Record {
    pub fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let (mut entries, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
        while at + HEAD <= bytes.len() {
            let number = |place: usize| {
                usize::try_from(i64::from_ne_bytes(
                    bytes[at + place * 8..][..8].try_into().unwrap(),
                ))
                .unwrap()
            };
            let (kind, file, offset, length) = (number(0), number(1), number(2), number(3));
            at += HEAD;
            let file = if file == 1 { File::Database } else { File::Log };
            entries.push(match kind {
                1 => Entry::Write { file, offset, bytes: bytes[at..at + length].to_vec() },
                2 => Entry::Truncate { file, length: offset },
                3 => Entry::Flush(file),
                _ => Entry::Forget(file),
            });
            at += length;
            ends.push(at as u64);
        }
        Self { entries, ends }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many entries there were when the record was that long.
    pub fn entries_at(&self, length: u64) -> usize {
        self.ends.partition_point(|end| *end <= length)
    }

    /// The entries that are flushes of either file.
    pub fn flushes(&self) -> Vec<usize> {
        let is_flush = |number: &usize| matches!(self.entries[*number], Entry::Flush(_));
        (0..self.entries.len()).filter(is_flush).collect()
    }
}

/// What became of what was written and not flushed.
#[derive(Clone, Copy, Debug)]
pub enum Damage {
    /// None of it got to the disk.
    Lost,
    /// All of it did.
    Kept,
    /// Each write did or did not.
    Reordered,
    /// Each sector did or did not.
    Torn,
}

impl Damage {
    /// Each kind in its turn.
    pub const fn number(number: u64) -> Self {
        match number % 4 {
            0 => Self::Torn,
            1 => Self::Lost,
            2 => Self::Reordered,
            _ => Self::Kept,
        }
    }
}

/// The disk while the record is played: what is surely on it, and what waits for the next flush.
pub struct Disk<'r> {
    record: &'r Record,
    next: usize,
    files: BTreeMap<File, Vec<u8>>,
    waiting: BTreeMap<File, Vec<&'r Entry>>,
}

impl<'r> Disk<'r> {
    pub fn new(record: &'r Record, database: Vec<u8>) -> Self {
        let files = BTreeMap::from([(File::Database, database), (File::Log, Vec::new())]);
        Self {
            record,
            next: 0,
            files,
            waiting: BTreeMap::from([(File::Database, Vec::new()), (File::Log, Vec::new())]),
        }
    }

    /// Plays all entries before that one.
    pub fn play_until(&mut self, end: usize) {
        let entries: &'r [Entry] = &self.record.entries;
        for entry in &entries[self.next..end] {
            match entry {
                Entry::Write { file, .. } | Entry::Truncate { file, .. } => {
                    self.waiting.get_mut(file).unwrap().push(entry)
                }
                Entry::Flush(file) => {
                    let bytes = self.files.get_mut(file).unwrap();
                    self.waiting
                        .get_mut(file)
                        .unwrap()
                        .drain(..)
                        .for_each(|entry| apply(entry, bytes, &mut || true));
                }
                Entry::Forget(file) => self.waiting.get_mut(file).unwrap().clear(),
            }
        }
        self.next = end;
    }

    /// The files as they may be when the power is cut now.
    pub fn cut(&self, damage: Damage, seed: u64) -> BTreeMap<File, Vec<u8>> {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut files = self.files.clone();
        for (file, waiting) in &self.waiting {
            let bytes = files.get_mut(file).unwrap();
            for entry in waiting {
                let survives = match damage {
                    Damage::Lost => false,
                    Damage::Kept | Damage::Torn => true,
                    Damage::Reordered => random.random(),
                };
                if survives {
                    apply(entry, bytes, &mut || !matches!(damage, Damage::Torn) || random.random());
                }
            }
        }
        files
    }
}

/// Does to a file what the entry says, as far as its sectors get to the disk.
fn apply(entry: &Entry, file: &mut Vec<u8>, arrives: &mut impl FnMut() -> bool) {
    match entry {
        Entry::Truncate { length, .. } if arrives() => file.resize(*length, 0),
        Entry::Write { offset, bytes, .. } => {
            file.resize(file.len().max(offset + bytes.len()), 0);
            let mut at = 0;
            while at < bytes.len() {
                let length = (SECTOR - (offset + at) % SECTOR).min(bytes.len() - at);
                if arrives() {
                    file[offset + at..][..length].copy_from_slice(&bytes[at..at + length]);
                }
                at += length;
            }
        }
        _ => {}
    }
}
