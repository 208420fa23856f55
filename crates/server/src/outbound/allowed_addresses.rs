//! Which addresses may be called.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use reqwest::Url;

/// The addresses that may be called: all public ones, and the ranges that the operator allows
/// beside them.
#[derive(Clone, Debug, Default)]
pub struct AllowedAddresses {
    allowed: Vec<IpNet>,
}

impl AllowedAddresses {
    #[must_use]
    pub const fn new(allowed: Vec<IpNet>) -> Self {
        Self { allowed }
    }

    /// Says what is wrong with a URL, as far as can be told without asking for its name.
    pub fn check(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err("must begin with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user or a password".to_owned());
        }
        match url.host() {
            None => Err("must name a host".to_owned()),
            Some(url::Host::Domain(name))
                if !name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) =>
            {
                Err("must name a host of letters, digits, hyphens and dots".to_owned())
            }
            Some(url::Host::Domain(_)) => Ok(()),
            Some(url::Host::Ipv4(ip)) => self.admit(ip.into()),
            Some(url::Host::Ipv6(ip)) => self.admit(ip.into()),
        }
    }

    pub fn admit(&self, ip: IpAddr) -> Result<(), String> {
        let ip = plain(ip);
        match is_public(ip) || self.allowed.iter().any(|range| range.contains(&ip)) {
            true => Ok(()),
            false => Err(format!(
                "must not lead to {ip}, which is not a public address; the operator may allow it \
                 with --allow-private-targets"
            )),
        }
    }
}

/// An IPv4 address that is written as an IPv6 one means the same.
fn plain(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(ip, IpAddr::V4),
    }
}

fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_special = ip.is_unspecified()
        || ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_multicast()
        || ip.is_documentation()
        || a == 0
        || a >= 240
        || ip == Ipv4Addr::new(168, 63, 129, 16) // what a cloud's machines ask about themselves
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !is_special
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    let [a, b, ..] = segments;
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    // Addresses that carry an IPv4 address lead to that one.
    let carried = match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, g, h] => Some(v4(g, h)),
        [0x2002, b, c, ..] => Some(v4(b, c)),
        _ => None,
    };
    // What is given out to be reached from everywhere begins with the bits 001.
    let is_global = matches!(segments, [0x64, 0xff9b, 0, 0, 0, 0, ..]) || (a & 0xe000) == 0x2000;
    let is_special = (a == 0x2001 && (b < 0x200 || b == 0xdb8)) || (a & 0xfff0) == 0x3ff0;
    is_global && !is_special && carried.is_none_or(is_public_v4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses(targets: &AllowedAddresses, url: &str) -> bool {
        targets.check(&Url::parse(url).unwrap()).is_err()
    }

    #[test]
    fn what_is_not_public_is_refused() {
        let targets = AllowedAddresses::default();
        let refused = [
            "ftp://example.com/",
            "http://user@example.com/",
            "http://:secret@example.com/",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://017700000001/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.0.1/",
            "http://169.254.169.254/",
            "http://100.64.0.1/",
            "http://168.63.129.16/",
            "http://192.0.0.8/",
            "http://198.18.0.1/",
            "http://203.0.113.9/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://[::]/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[::10.0.0.1]/",
            "http://[::ffff:0:10.0.0.1]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://[ff02::1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[2001:db8::1]/",
        ];
        for url in refused {
            assert!(refuses(&targets, url), "{url}");
        }
        for url in [
            "http://example.com/",
            "https://8.8.8.8:8443/x?y",
            "http://[2606:4700::1]/",
            "http://172.32.0.1/",
            "http://[64:ff9b::808:808]/",
        ] {
            assert!(!refuses(&targets, url), "{url}");
        }
    }

    #[test]
    fn ranges_that_the_operator_allows_are_called() {
        let targets = AllowedAddresses::new(vec![
            "127.0.0.0/8".parse().unwrap(),
            "fd00::/8".parse().unwrap(),
        ]);
        for url in ["http://127.0.0.1:9000/", "http://[::ffff:127.0.0.1]/", "http://[fd12::1]/"] {
            assert!(!refuses(&targets, url), "{url}");
        }
        for url in ["http://10.0.0.1/", "http://[::1]/"] {
            assert!(refuses(&targets, url), "{url}");
        }
    }
}
