//! The tour of the README, as somebody pastes it.

use std::process::Command;

use super::start::demo_with_key;
use crate::support::{Engine, apply, each_engine};

const README: &str = include_str!("../../../../../README.md");

/// The commands of the tour, one after the other.
fn commands() -> String {
    let tour = README
        .split("\n## A tour\n")
        .nth(1)
        .expect("the README has a tour")
        .split("\n## ")
        .next()
        .unwrap();
    let blocks: Vec<_> =
        tour.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 10, "the tour has {} blocks of commands", blocks.len());
    blocks.concat()
}

#[apply(each_engine)]
fn the_tour_of_the_readme_runs_as_it_is_pasted(engine: &Engine) {
    let (app, key) = demo_with_key(*engine);
    let (places, script) =
        (["API=http://127.0.0.1:8080\n", "KEY=paste-the-key-here\n"], commands());
    assert!(
        places.iter().all(|place| script.matches(place).count() == 1),
        "the tour begins with the address and the key"
    );
    let script = script
        .replace(places[0], &format!("API=http://{}\n", app.address))
        .replace(places[1], &format!("KEY={}\n", key));
    let output = Command::new("bash").args(["-euc", &script]).output().expect("bash runs");
    let (said, wrong) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && wrong.is_empty(), "{said}\n{wrong}");
    let answers: Vec<_> = said.lines().filter(|line| !line.is_empty()).collect();
    let (last, others) = answers.split_last().unwrap();
    let refused: Vec<_> =
        others.iter().filter(|answer| !answer.starts_with("{\"success\":true")).collect();
    assert!(refused.is_empty() && others.len() >= 10, "{said}");
    assert!(
        last.starts_with("{\"success\":false") && last.contains("did you mean name?"),
        "{last}"
    );
}
