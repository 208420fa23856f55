//! Waits before new attempts, in their order.

use serde::Deserialize;

use super::duration::Span;

const MOST: usize = 100;

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "Vec<Span>")]
pub struct Delays(pub(super) Vec<Span>);

impl Delays {
    #[must_use]
    pub fn millis(&self) -> Vec<i64> {
        self.0.iter().map(|delay| delay.millis()).collect()
    }
}

impl TryFrom<Vec<Span>> for Delays {
    type Error = String;

    fn try_from(delays: Vec<Span>) -> Result<Self, String> {
        match delays.len() > MOST {
            true => Err(format!("{} time spans are too many; write at most {MOST}", delays.len())),
            false => Ok(Self(delays)),
        }
    }
}
