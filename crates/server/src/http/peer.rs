//! Whoever is at the other end of a connection, and whether they are still there.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Who sends no more may only have said so early. They are taken for gone when they wait for so long.
const BENEFIT_OF_DOUBT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct Peer(pub Arc<TcpStream>);

impl Peer {
    /// Done when nobody seems to wait for an answer any more.
    pub async fn gone(&self) {
        match self.0.ready(Interest::READABLE).await {
            Ok(ready) if ready.is_read_closed() => sleep(BENEFIT_OF_DOUBT).await,
            // With the next request behind this one nothing more can be seen.
            Ok(_) => std::future::pending().await,
            Err(_) => {}
        }
    }
}
