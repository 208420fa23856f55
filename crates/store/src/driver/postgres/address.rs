//! Where a PostgreSQL database is: a URL as libpq takes it, with `sslmode` and `sslrootcert`.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How far the server's certificate is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Trust {
    /// Encrypted, with whoever answers.
    #[default]
    Anyone,
    /// The certificate is signed by an authority that we know.
    Authority,
    /// And it is made out to the host that was asked for.
    AuthorityAndName,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) trust: Trust,
    /// A file with the authorities' certificates; those of the system without it.
    pub(crate) authorities: Option<PathBuf>,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let (base, query) = written.split_once('?').unwrap_or((written, ""));
        let mut trust = Trust::default();
        let mut certificates = None;
        let mut others = Vec::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", "verify-ca")) => trust = Trust::Authority,
                Some(("sslmode", "verify-full")) => trust = Trust::AuthorityAndName,
                Some(("sslrootcert", written)) => certificates = Some(decoded(written)?),
                _ => others.push(option),
            }
        }
        if certificates.is_some() && trust == Trust::Anyone {
            return Err(
                "sslrootcert has no effect because sslmode does not verify certificates; add \
                 sslmode=verify-full or sslmode=verify-ca"
                    .to_owned(),
            );
        }
        let query = others.join("&");
        let mut config = Config::from_str(&format!("{base}?{query}")).map_err(|error| {
            // The reason may quote what is of a password that was cut in two.
            if query.contains('@') {
                return "it is not a valid PostgreSQL URL: an @ follows the first ?; write ? and @ \
                    in a user's name or password as %3F and %40"
                    .to_owned();
            }
            let cause = std::error::Error::source(&error)
                .map(|cause| format!(": {cause}"))
                .unwrap_or_default();
            format!(
                "it is not a valid PostgreSQL URL: {error}{cause}; write \
                postgres://USER:PASSWORD@HOST:PORT/DATABASE"
            )
        })?;
        if config.get_hosts().is_empty() {
            return Err(
                "it names no host; write postgres://USER:PASSWORD@HOST:PORT/DATABASE".to_owned()
            );
        }
        // Whatever stands before it is of a password that was cut in two.
        if config
            .get_hosts()
            .iter()
            .any(|host| matches!(host, Host::Tcp(name) if name.contains('@')))
        {
            return Err(
                "it names a host with @ in it; write @ in a user's name or password as %40"
                    .to_owned(),
            );
        }
        if trust != Trust::Anyone {
            config.ssl_mode(SslMode::Require);
        }
        if config.get_application_name().is_none() {
            config.application_name("slated");
        }
        let authorities = certificates.filter(|written| written != "system").map(PathBuf::from);
        Ok(Self { config, trust, authorities })
    }
}

fn decoded(written: &str) -> Result<String, String> {
    let decoded = percent_decode_str(written).decode_utf8();
    decoded
        .map(Cow::into_owned)
        .map_err(|_| "sslrootcert is not valid UTF-8 after percent-decoding".to_owned())
}

/// Without the password, so that it may be shown and logged.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        formatter.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(formatter, "{user}@")?;
        }
        for (index, host) in self.config.get_hosts().iter().enumerate() {
            let port = ports.get(index).or(ports.first()).unwrap_or(&5432);
            let comma = if index == 0 { "" } else { "," };
            match host {
                Host::Tcp(name) => write!(formatter, "{comma}{name}:{port}")?,
                Host::Unix(path) => write!(formatter, "{comma}{}:{port}", path.display())?,
            }
        }
        match self.config.get_dbname() {
            Some(name) => write!(formatter, "/{name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libpq_takes_is_taken() {
        let address: Address =
            "postgres://slated:secret@one:5001,two:5002/recruiting?target_session_attrs=read-write&sslmode=verify-full&sslrootcert=my%20ca.pem"
                .parse()
                .unwrap();
        assert_eq!(address.trust, Trust::AuthorityAndName);
        assert_eq!(address.authorities, Some(PathBuf::from("my ca.pem")));
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(address.config.get_hosts().len(), 2);
    }

    #[test]
    fn it_is_shown_without_the_password() {
        let address: Address = "postgresql://slated:secret@one,two/recruiting".parse().unwrap();
        assert_eq!(address.to_string(), "postgres://slated@one:5432,two:5432/recruiting");
    }

    #[test]
    fn sslmode_is_kept() {
        for (written, mode) in [
            ("disable", SslMode::Disable),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
        ] {
            let address: Address = format!("postgres://one/x?sslmode={written}").parse().unwrap();
            assert_eq!((address.config.get_ssl_mode(), address.trust), (mode, Trust::Anyone));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for written in [
            "postgres://",
            "postgres:///x",
            "postgres://one/x?sslmode=maybe",
            "postgres://one:port/x",
            "postgres://one/x?colour=red",
            "postgres://u:hunt@er2@one/x",
            "postgres://one/x?sslrootcert=ca.pem",
            "postgres://one/x?sslmode=require&sslrootcert=system",
            "postgres://one/x?sslmode=verify-ca&sslrootcert=%FF",
        ] {
            assert!(written.parse::<Address>().is_err(), "{written}");
        }
    }

    #[test]
    fn no_part_of_a_password_is_shown() {
        for written in [
            "postgres://u:hunt@er?two=three@one/x",
            "postgres://u:p@ss/w?rd%25#&=:two@one/x",
            "postgres://u:er?two@one/x?sslmode=verify-full",
        ] {
            let reason = written.parse::<Address>().unwrap_err();
            assert!(
                !reason.contains("two")
                    && !reason.contains("rd%25")
                    && !reason.contains("hunt")
                    && reason.contains("%40"),
                "{reason}"
            );
        }
    }
}
