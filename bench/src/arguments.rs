//! What the benchmark is told on its command line.

use std::path::PathBuf;

pub const HELP: &str = "\
Measures slated under load and holds the figures against the targets.

Usage: cargo run --profile dist -p bench -- [OPTIONS]

  --engine NAME      sqlite, or postgres, which is started for the time being [sqlite]
  --sizes N,N        persons, all of them candidates of one job [1000,1000000]
  --seconds N        how long each operation is measured [8]
  --connections N    connections that wrk keeps open [128]
  --threads N        threads that wrk runs [2]
  --data DIR         where the databases are kept for the next time [target/bench]
  --only NAME        only operations with NAME in their name; events for what events cost, desk for search and batches
  --help             this text";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    Sqlite,
    Postgres,
}

#[derive(Debug)]
pub struct Arguments {
    pub engine: Engine,
    pub sizes: Vec<u64>,
    pub seconds: u64,
    pub connections: u64,
    pub threads: u64,
    pub data: Option<PathBuf>,
    pub only: Option<String>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            engine: Engine::Sqlite,
            sizes: vec![1000, 1_000_000],
            seconds: 8,
            connections: 128,
            threads: 2,
            data: None,
            only: None,
        }
    }
}

impl Arguments {
    /// None if help is all that was asked for.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut arguments = Self::default();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (word, None),
            };
            if name == "--help" || name == "-h" {
                return Ok(None);
            }
            let value = joined
                .or_else(|| words.next())
                .ok_or_else(|| format!("{name} needs a value; see --help"))?;
            arguments.set(&name, &value)?;
        }
        arguments.check()?;
        Ok(Some(arguments))
    }

    pub fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| name.contains(only))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "--engine" => {
                self.engine = match value {
                    "sqlite" => Engine::Sqlite,
                    "postgres" => Engine::Postgres,
                    _ => return Err(format!("--engine: {value:?} is neither sqlite nor postgres")),
                }
            }
            "--sizes" => {
                self.sizes =
                    value.split(',').map(|size| number(name, size)).collect::<Result<_, _>>()?
            }
            "--seconds" => self.seconds = number(name, value)?,
            "--connections" => self.connections = number(name, value)?,
            "--threads" => self.threads = number(name, value)?,
            "--data" => self.data = Some(PathBuf::from(value)),
            "--only" => self.only = Some(value.to_owned()),
            _ => return Err(format!("there is no option {name}; see --help")),
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        self.sizes.sort_unstable();
        self.sizes.dedup();
        match self.connections >= self.threads {
            true => Ok(()),
            false => Err("--connections must be at least as many as --threads".to_owned()),
        }
    }
}

fn number(name: &str, written: &str) -> Result<u64, String> {
    match written.trim().replace('_', "").parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{name}: {written:?} is no whole number above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Option<Arguments>, String> {
        Arguments::read(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read_in_both_forms() {
        let arguments = read("--sizes 1_000,10 --seconds=3 --only read").unwrap().unwrap();
        assert_eq!((arguments.sizes, arguments.seconds), (vec![10, 1000], 3));
        assert_eq!(arguments.only.as_deref(), Some("read"));
        assert!(read("--help").unwrap().is_none());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for wrong in
            ["--sise 3", "--seconds", "--seconds 0", "--sizes 1,x", "--threads 4 --connections 2"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
