//! Where to listen, as people write it.

use std::net::SocketAddr;
use std::str::FromStr;

use tokio::net::{TcpListener, lookup_host};

use crate::http::listen;

/// A host and a port. A port alone is one of this machine, and with a colon in front one of all its
/// addresses.
#[derive(Clone)]
pub struct Listen(String);

impl FromStr for Listen {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let (host, port) = written.rsplit_once(':').unwrap_or(("127.0.0.1", written));
        // An IPv6 address has colons of its own, and stands in brackets.
        let is_host = !host.contains(':') || host.starts_with('[') && host.ends_with(']');
        match is_host && port.parse::<u16>().is_ok() {
            true => Ok(Self(format!("{}:{port}", if host.is_empty() { "[::]" } else { host }))),
            false => {
                Err("it must be HOST:PORT, :PORT or PORT, with a port from 0 to 65535, as in \
                    127.0.0.1:8080, [::1]:8080 or :8080"
                    .to_owned())
            }
        }
    }
}

impl Listen {
    pub async fn bind(&self) -> Result<TcpListener, String> {
        let Self(written) = self;
        let found = lookup_host(written).await.map_err(|error| {
            format!("the host of {written} in --listen cannot be resolved: {error}")
        })?;
        let mut addresses: Vec<SocketAddr> = found.collect();
        if written.starts_with("[::]:") {
            // Where there is no IPv6.
            addresses
                .extend(addresses.first().map(|any| SocketAddr::from(([0, 0, 0, 0], any.port()))));
        }
        let mut refusal = format!("the host of {written} in --listen has no address");
        for address in addresses {
            match listen::bind(address) {
                Ok(listener) => return Ok(listener),
                Err(error) => refusal = format!("cannot listen on {address}: {error}"),
            }
        }
        Err(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_a_host_and_an_address_are_read() {
        for (written, expected) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "[::]:8080"),
            ("localhost:0", "localhost:0"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(
                written.parse::<Listen>().map(|listen| listen.0),
                Ok(expected.to_owned()),
                "{written}"
            );
        }
        for wrong in
            ["", "localhost", "localhost:", ":http", "::1:8080", "127.0.0.1:65536", "127.0.0.1:-1"]
        {
            assert!(wrong.parse::<Listen>().is_err(), "{wrong}");
        }
    }
}
