//! Checks who imports whom. Its test reads the `use` statements of each crate and fails on a circle
//! of files, and on an import of a file that stands on a higher floor.
//!
//! A new file at the top of a crate needs a floor here. The floors stand from the ground up; files
//! on one floor may import each other as long as no circle arises.

pub mod imports;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::imports::{Imports, Module};

    /// A crate with its floors, from the ground up. A floor lists the files and folders at the top
    /// of the crate that stand on it.
    struct Floors {
        crate_path: &'static str,
        floors: &'static [&'static [&'static str]],
    }

    const HOUSE: [Floors; 5] = [
        Floors {
            crate_path: "crates/model",
            floors: &[
                &["clock", "digest", "patch", "problem", "text"],
                &["id", "json", "name", "search", "social"],
                &["event", "input", "stage_duration"],
                &[
                    "candidate",
                    "career",
                    "company",
                    "contact",
                    "key",
                    "listing",
                    "note",
                    "profile",
                    "stage",
                    "status",
                    "webhook",
                ],
                &["funnel", "job", "person", "template"],
                &["duplicate", "enrichment", "merge"],
                &["matched", "origin"],
            ],
        },
        Floors {
            crate_path: "crates/store",
            floors: &[
                &[
                    "batch_queue",
                    "buffered_event",
                    "commit_notifier",
                    "error",
                    "limit",
                    "purpose",
                    "schema",
                ],
                &["driver"],
                &["migrations", "options", "tx"],
                &["operation", "records"],
                &["executor"],
                &["store"],
                &["copy"],
            ],
        },
        Floors {
            crate_path: "crates/operations",
            floors: &[
                &["etag", "filter_errors", "merged_ids", "references", "write_batches"],
                &["emit", "idempotency"],
                &[
                    "candidates",
                    "companies",
                    "enrichment",
                    "events",
                    "jobs",
                    "keys",
                    "maintenance",
                    "persons",
                    "read",
                    "search",
                    "statuses",
                    "templates",
                    "webhook_delivery",
                    "webhooks",
                    "workspaces",
                ],
            ],
        },
        Floors {
            crate_path: "crates/server",
            floors: &[
                &["config", "demo", "events", "outbound", "progress", "telemetry", "trusted_clock"],
                &["enrich", "webhooks"],
                &["http"],
                &["api", "maintenance"],
                &["router"],
                &["cli"],
                &["main"],
            ],
        },
        Floors { crate_path: "bench", floors: &[] },
    ];

    /// Which of our crates each may import.
    const CRATES: [(&str, &[&str]); 4] = [
        ("crates/model", &[]),
        ("crates/store", &["slated_model"]),
        ("crates/operations", &["slated_model", "slated_store"]),
        ("crates/server", &["slated_model", "slated_store", "slated_operations"]),
    ];

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    fn imports(crate_path: &str) -> Imports {
        Imports::read(&root().join(crate_path).join("src")).expect("the sources can be read")
    }

    #[test]
    fn no_files_import_each_other_in_a_circle() {
        for Floors { crate_path, .. } in &HOUSE {
            let circle = imports(crate_path).circle();
            assert!(circle.is_empty(), "{crate_path} has a circle: {}", circle.join(" -> "));
        }
    }

    #[test]
    fn no_file_imports_from_a_floor_above_its_own() {
        for Floors { crate_path, floors } in HOUSE.iter().filter(|house| !house.floors.is_empty()) {
            let imports = imports(crate_path);
            let floor_of = |module: &Module| {
                let room = module.first()?;
                let floor = floors.iter().position(|floor| floor.contains(&room.as_str()));
                Some(floor.unwrap_or_else(|| panic!("{crate_path}: {room} needs a floor here")))
            };
            for (from, to) in imports.edges() {
                // The root of a crate only shows what stands elsewhere.
                let (Some(own), Some(other)) = (floor_of(from), floor_of(to)) else { continue };
                let (from, to) = (from.join("::"), to.join("::"));
                assert!(other <= own, "{crate_path}: {from} imports {to}, which stands above it");
            }
        }
    }

    #[test]
    fn no_crate_imports_one_above_it() {
        for (crate_path, allowed) in CRATES {
            for name in imports(crate_path).crates() {
                let is_ours = name == "slated" || name.starts_with("slated_");
                let is_fine = !is_ours || allowed.contains(&name) || name == "slated";
                assert!(is_fine, "{crate_path} imports {name}");
            }
        }
    }
}
