//! Options for calls to webhooks.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use ipnet::IpNet;
use slated_operations::webhook_delivery::RetryDelays;

use crate::config::duration::parse_duration;
use crate::outbound::AllowedAddresses;
use crate::webhooks::{Delivering, SecretKey};

/// About 24 hours in all.
const RETRY_DELAYS: &str = "5s,30s,2m,10m,30m,1h,2h,4h,8h,8h";

#[derive(Args)]
pub struct Calling {
    #[command(flatten)]
    pub addressing: Addressing,
    #[command(flatten)]
    signing: Signing,
    /// The delay before each retry of a webhook call
    #[arg(long, help_heading = "Webhooks", env = "SLATED_WEBHOOK_RETRY_DELAYS",
        default_value = RETRY_DELAYS, value_name = "SPAN,…", value_delimiter = ',',
        value_parser = parse_duration)]
    webhook_retry_delays: Vec<i64>,
}

/// Where webhooks may lead.
#[derive(Args)]
pub struct Addressing {
    /// Address ranges that webhooks and providers may call although they are not public
    #[arg(
        long,
        help_heading = "Webhooks",
        env = "SLATED_ALLOW_PRIVATE_TARGETS",
        value_name = "RANGE,…",
        default_value = "",
        hide_default_value = true
    )]
    allow_private_targets: Ranges,
}

/// What the secrets of webhooks are made with.
#[derive(Args)]
pub struct Signing {
    /// Key from which the secrets of all webhooks are derived, so that the database alone does not
    /// reveal them; must be the same on all servers
    #[arg(
        long,
        help_heading = "Webhooks",
        env = "SLATED_SECRET_KEY",
        hide_env_values = true,
        default_value = "",
        hide_default_value = true,
        value_name = "TEXT"
    )]
    secret_key: Secret,
}

/// Not shown in any message.
#[derive(Clone)]
struct Secret(String);

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// With commas between.
#[derive(Clone)]
struct Ranges(Vec<IpNet>);

impl FromStr for Ranges {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        written
            .split(',')
            .map(str::trim)
            .filter(|range| !range.is_empty())
            .map(parse_range)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn parse_range(written: &str) -> Result<IpNet, String> {
    let one = || written.trim().parse::<IpAddr>().map(IpNet::from);
    let range = written.trim().parse().or_else(|_| one());
    let range = range.map_err(|_| {
        format!("{written:?} is not an address range; write it as in 10.0.0.0/8 or fd00::/8")
    })?;
    Ok(plain(range))
}

/// IPv4 addresses that are written as IPv6 ones mean the same.
fn plain(range: IpNet) -> IpNet {
    match (range.addr().to_canonical(), range.prefix_len().checked_sub(96)) {
        (IpAddr::V4(address), Some(length)) if range.addr().is_ipv6() => {
            IpNet::new_assert(address.into(), length)
        }
        _ => range,
    }
}

impl Calling {
    pub fn delivering(&self) -> Result<Delivering, String> {
        if self.webhook_retry_delays.is_empty() || self.webhook_retry_delays.len() > 100 {
            return Err("--webhook-retry-delays must have 1 to 100 time spans".to_owned());
        }
        Ok(Delivering {
            targets: Arc::new(self.addressing.targets()),
            secret_key: self.signing.secret_key(),
            delays: RetryDelays(self.webhook_retry_delays.clone()),
        })
    }
}

impl Addressing {
    pub fn targets(&self) -> AllowedAddresses {
        AllowedAddresses::new(self.allow_private_targets.0.clone())
    }
}

impl Signing {
    pub fn secret_key(&self) -> SecretKey {
        SecretKey::from(self.secret_key.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_mapped_addresses_are_those_of_ipv4() {
        let cases = [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("127.0.0.1", "127.0.0.1/32"),
            ("::ffff:127.0.0.1", "127.0.0.1/32"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("fd00::/8", "fd00::/8"),
            ("::1", "::1/128"),
        ];
        for (written, range) in cases {
            assert_eq!(parse_range(written).unwrap().to_string(), range, "{written}");
        }
    }

    #[test]
    fn the_default_delays_take_about_a_day() {
        let delays = RetryDelays(
            RETRY_DELAYS.split(',').map(|span| parse_duration(span).unwrap()).collect(),
        );
        let hours = |chance: f64| {
            (1..).map_while(|attempts| delays.after(attempts, chance)).sum::<i64>()
                / (60 * 60 * 1000)
        };
        assert_eq!([0.0, 0.5, 1.0].map(hours), [18, 23, 28]);
    }
}
