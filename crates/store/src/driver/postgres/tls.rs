//! TLS to the database, with rustls.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::driver::postgres::address::{Address, Trust};
use crate::error::StoreError;

pub(crate) fn connector(address: &Address) -> Result<MakeRustlsConnect, StoreError> {
    let unusable = |error: Error| StoreError::Unusable(format!("TLS cannot be set up: {error}"));
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let config = match address.trust {
        Trust::Anyone => config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Lenient { known: None, provider })),
        Trust::Authority => {
            let known = WebPkiServerVerifier::builder_with_provider(
                Arc::new(authorities(address)?),
                Arc::clone(&provider),
            );
            let known = known
                .build()
                .map_err(|error| StoreError::Unusable(format!("TLS cannot be set up: {error}")))?;
            config.dangerous().with_custom_certificate_verifier(Arc::new(Lenient {
                known: Some(known),
                provider,
            }))
        }
        Trust::AuthorityAndName => config.with_root_certificates(authorities(address)?),
    };
    let mut config = config.with_no_client_auth();
    // From version 17 on, PostgreSQL takes none without it where TLS begins at once
    // (`sslnegotiation=direct`).
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

fn authorities(address: &Address) -> Result<RootCertStore, StoreError> {
    let mut store = RootCertStore::empty();
    let certificates = match &address.authorities {
        Some(path) => from_file(path)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    store.add_parsable_certificates(certificates);
    match store.is_empty() {
        true => Err(StoreError::Unusable(
            "sslmode requires the server certificate to be verified, but no CA \
             certificate was found; specify a file with sslrootcert=PATH"
                .to_owned(),
        )),
        false => Ok(store),
    }
}

fn from_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let unreadable = |reason: String| {
        StoreError::Unusable(format!("sslrootcert {} cannot be read: {reason}", path.display()))
    };
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    CertificateDer::pem_reader_iter(BufReader::new(file))
        .collect::<Result<_, _>>()
        .map_err(|error| unreadable(error.to_string()))
}

/// Checks less than rustls would: not the name, or, without known authorities, nothing but that the
/// server has its key.
#[derive(Debug)]
struct Lenient {
    known: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(known) = &self.known else { return Ok(ServerCertVerified::assertion()) };
        match known.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
