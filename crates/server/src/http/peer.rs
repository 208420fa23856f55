//! Whoever is at the other end of a connection, and whether they are still there.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::sleep;

/// Who sends no more may only have said so early. They are taken for gone when they wait for so
/// long.
const BENEFIT_OF_DOUBT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct Peer(pub Arc<TcpStream>);

impl Peer {
    /// Done when nobody seems to wait for an answer any more.
    pub async fn gone(&self) {
        match self.0.peek(&mut [0]).await {
            Ok(0) => sleep(BENEFIT_OF_DOUBT).await,
            // With the next request behind this one nothing more can be seen.
            Ok(_) => std::future::pending().await,
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use super::*;

    #[test]
    fn who_has_left_is_gone_and_who_waits_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let peer = Peer(Arc::new(listener.accept().await.unwrap().0));
            client.write_all(b"request").await.unwrap();
            // All of it is read, and not looked whether there is more.
            peer.0.readable().await.unwrap();
            assert_eq!(peer.0.try_read(&mut [0; 100]).unwrap(), 7);
            assert!(timeout(Duration::from_millis(50), peer.gone()).await.is_err());
            drop(client);
            timeout(BENEFIT_OF_DOUBT * 10, peer.gone()).await.unwrap();
        });
    }
}
