//! The `use` statements of a crate, as edges between its files. Tests inside a file do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

/// The path of a file inside its crate: `["records", "person"]`. The root has an empty one.
pub type Module = Vec<String>;

/// Which file imports which, and which crates.
pub struct Imports {
    edges: BTreeMap<Module, BTreeSet<Module>>,
    crates: BTreeSet<String>,
}

impl Imports {
    pub fn read(sources: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        collect(sources, &Vec::new(), &mut files)?;
        let mut imports = Self { edges: BTreeMap::new(), crates: BTreeSet::new() };
        for (module, text) in &files {
            for path in paths_in(text) {
                match resolve(module, &path, &files) {
                    Some(imported) if imported != *module => {
                        imports.edges.entry(module.clone()).or_default().insert(imported);
                    }
                    Some(_) => {}
                    None => drop(imports.crates.insert(path[0].clone())),
                }
            }
        }
        Ok(imports)
    }

    pub fn edges(&self) -> impl Iterator<Item = (&Module, &Module)> {
        self.edges.iter().flat_map(|(from, imported)| imported.iter().map(move |to| (from, to)))
    }

    pub fn crates(&self) -> impl Iterator<Item = &str> {
        self.crates.iter().map(String::as_str)
    }

    /// The files of a circle in order; empty if there is none.
    pub fn circle(&self) -> Vec<String> {
        let mut done = BTreeSet::new();
        for start in self.edges.keys() {
            let mut path = Vec::new();
            if self.walk(start, &mut path, &mut done) {
                return path.iter().map(|module| module.join("::")).collect();
            }
        }
        Vec::new()
    }

    /// Goes on from the end of a path. True if it comes back to a file on it.
    fn walk<'i>(
        &'i self,
        module: &'i Module,
        path: &mut Vec<&'i Module>,
        done: &mut BTreeSet<&'i Module>,
    ) -> bool {
        if let Some(begin) = path.iter().position(|known| *known == module) {
            path.drain(..begin);
            path.push(module);
            return true;
        }
        if !done.insert(module) {
            return false;
        }
        path.push(module);
        for imported in self.edges.get(module).into_iter().flatten() {
            if self.walk(imported, path, done) {
                return true;
            }
        }
        path.pop();
        false
    }
}

/// Reads each file below the folder without its tests and comments.
fn collect(folder: &Path, module: &Module, files: &mut BTreeMap<Module, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let inner = || module.iter().cloned().chain([name.clone()]).collect();
        if path.is_dir() {
            collect(&path, &inner(), files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            let is_root = name == "mod" || (module.is_empty() && name == "lib");
            let key = if is_root { module.clone() } else { inner() };
            files.insert(key, lines.collect::<Vec<_>>().join("\n"));
        }
    }
    Ok(())
}

/// Every path that a file imports, one for each leaf of its `use` trees.
fn paths_in(text: &str) -> Vec<Vec<String>> {
    let is_use = |line: &str| {
        let line = line.trim_start();
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => {
                rest.split_once(") ").map_or("", |(_, rest)| rest)
            }
            Some(rest) => rest.trim_start(),
            None => line,
        };
        line.strip_prefix("use ").map(str::to_owned)
    };
    let mut paths = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(mut tree) = is_use(line) else { continue };
        while !tree.contains(';') {
            let Some(more) = lines.next() else { break };
            tree.push_str(more);
        }
        let tree: String = tree.split(';').next().unwrap_or_default().replace(" as ", "@");
        let tree: String = tree.chars().filter(|character| !character.is_whitespace()).collect();
        leaves(&tree, &[], &mut paths);
    }
    paths
}

fn leaves(tree: &str, before: &[String], paths: &mut Vec<Vec<String>>) {
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path.trim_end_matches("::"), group.strip_suffix('}')),
        None => (tree, None),
    };
    let mut whole = before.to_vec();
    let steps = path.split("::").filter(|step| !step.is_empty());
    whole.extend(steps.map(|step| step.split('@').next().unwrap_or_default().to_owned()));
    match group {
        Some(group) => entries(group).into_iter().for_each(|entry| leaves(entry, &whole, paths)),
        None => paths.push(whole),
    }
}

/// The entries of a group, which may be groups themselves.
fn entries(group: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut found) = (0, 0, Vec::new());
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&group[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&group[begin..]);
    found.retain(|entry| !entry.is_empty());
    found
}

/// The file that a path leads to; none if it leads out of the crate.
fn resolve(from: &Module, path: &[String], files: &BTreeMap<Module, String>) -> Option<Module> {
    let mut target = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => from.clone(),
        child => {
            let inner: Module = from.iter().cloned().chain([child.to_owned()]).collect();
            let is_module = files.contains_key(&inner);
            return is_module.then(|| descend(from.clone(), path, files));
        }
    };
    let mut rest = path;
    while let Some((step, others)) = rest.split_first() {
        match step.as_str() {
            "super" => drop(target.pop()),
            "self" | "crate" => {}
            _ => break,
        }
        rest = others;
    }
    Some(descend(target, rest, files))
}

/// Follows a path as far as it names files.
fn descend(mut target: Module, path: &[String], files: &BTreeMap<Module, String>) -> Module {
    for step in path {
        target.push(step.clone());
        if !files.contains_key(&target) {
            target.pop();
            break;
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        paths_in(text).iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn every_leaf_of_a_use_tree_is_a_path() {
        let text = "use crate::a::{self, b::{C, D as E}, f};\npub(crate) use self::g::H;\n\
                    fn used() {}\n    use super::{\n        I,\n    };";
        let paths =
            ["crate::a::self", "crate::a::b::C", "crate::a::b::D", "crate::a::f", "self::g::H"];
        assert_eq!(found(text), [&paths[..], &["super::I"]].concat());
    }

    #[test]
    fn a_circle_is_found_wherever_it_begins() {
        let edge = |from: &str, to: &str| (vec![from.to_owned()], [vec![to.to_owned()]].into());
        let imports = |edges: &[(&str, &str)]| Imports {
            edges: edges.iter().map(|(from, to)| edge(from, to)).collect(),
            crates: BTreeSet::new(),
        };
        assert_eq!(imports(&[("a", "b"), ("b", "c")]).circle(), Vec::<String>::new());
        assert_eq!(imports(&[("a", "b"), ("b", "c"), ("c", "b")]).circle(), ["b", "c", "b"]);
    }
}
