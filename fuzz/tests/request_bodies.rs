//! Sends any bytes as the body of the writes that take one. Whatever they are, the service must not
//! break, and must answer in its envelope.
//!
//! The first byte chooses the route; the rest is the body.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use slated_fuzz::Service;

static SERVICE: LazyLock<Service> = LazyLock::new(Service::start);

fuzz_target!(|data: &[u8]| {
    let Some((choice, body)) = data.split_first() else { return };
    let service = &*SERVICE;
    let (method, path) = &service.routes[usize::from(*choice) % service.routes.len()];
    let (status, answer) = service.send(method, path, body);
    assert!(
        matches!(status, 200 | 201 | 202 | 400 | 404 | 409),
        "{method} {path} answered {status}: {answer}"
    );
    match path.starts_with("/v0") {
        true => assert_eq!(answer["error"] == "", status < 300, "{answer}"),
        false => assert_eq!(answer["success"] == true, status < 300, "{answer}"),
    }
});
