//! The HTTP client for calls out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, StatusCode};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::Semaphore;

use super::allowed_addresses::AllowedAddresses;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_REDIRECTS: usize = 3;
const IDLE_CONNECTIONS: usize = 64;

/// What becomes of an answer that sends the call elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Redirects {
    /// The call goes there too, if it may.
    Followed,
    /// It is an answer like any other: what the call holds is for the one that was named.
    Left,
}

/// A client that reaches allowed targets only. `timeout` is for a whole call, with all its
/// redirects.
pub fn client(
    targets: &AllowedAddresses,
    timeout: Duration,
    redirects: Redirects,
) -> Result<Client, String> {
    let at_redirects = targets.clone();
    let policy = match redirects {
        Redirects::Followed => Policy::custom(move |attempt| redirect(&at_redirects, attempt)),
        Redirects::Left => Policy::none(),
    };
    Client::builder()
        .tls_backend_preconfigured(tls()?)
        .dns_resolver(Arc::new(Resolver(targets.clone())))
        .redirect(policy)
        .no_proxy()
        .referer(false)
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(timeout)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .tcp_nodelay(true)
        .user_agent(concat!("slated/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("outgoing calls cannot be set up: {error}"))
}

fn tls() -> Result<ClientConfig, String> {
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions();
    let config = config.map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(config.with_root_certificates(authorities).with_no_client_auth())
}

/// Follows only redirects that keep the request as it is.
fn redirect(targets: &AllowedAddresses, attempt: Attempt<'_>) -> reqwest::redirect::Action {
    if !matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT)
    {
        return attempt.stop();
    }
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error(format!("it was redirected more than {MAX_REDIRECTS} times"));
    }
    if attempt.url().scheme() == "http"
        && attempt.previous().last().is_some_and(|url| url.scheme() == "https")
    {
        return attempt.error("the redirect must not lead from https to http");
    }
    match targets.check(attempt.url()) {
        Ok(()) => attempt.follow(),
        Err(reason) => attempt.error(format!("the redirect {reason}")),
    }
}

/// Looks names up and leaves out the addresses that may not be called, so that a name cannot lead
/// where its URL could not.
struct Resolver(AllowedAddresses);

/// Each look-up keeps a thread waiting, and long reads of all workspaces are served by the same 512
/// threads: half of them are not for names.
static LOOKUPS: Semaphore = Semaphore::const_new(256);

/// A thread goes on waiting when nobody wants to know any more, and its place is taken until then.
async fn look_up(name: String) -> std::io::Result<Vec<SocketAddr>> {
    let place = LOOKUPS.acquire().await.map_err(std::io::Error::other)?;
    let looking = tokio::spawn(async move {
        let _place = place;
        tokio::net::lookup_host((name, 0)).await.map(Iterator::collect)
    });
    looking.await?
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let targets = self.0.clone();
        Box::pin(async move {
            let found = look_up(name.as_str().to_owned()).await;
            if let Err(error) = &found {
                tracing::debug!(%error, name = name.as_str(), "a host name could not be resolved");
            }
            let found = found.unwrap_or_default();
            let allowed: Vec<_> =
                found.into_iter().filter(|address| targets.admit(address.ip()).is_ok()).collect();
            match allowed.is_empty() {
                // Which address it is, or whether there is one, would tell strangers about the
                // network here.
                true => Err(format!(
                    "the host name {} does not resolve to a public address; the operator may allow \
                     others with --allow-private-targets",
                    name.as_str()
                )
                .into()),
                false => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}
