//! Counts and times of requests, a set for each route. The handles are made once and kept, so that
//! a request only adds to them.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use axum::http::Method;
use metrics::{Counter, Histogram, counter, histogram};

#[derive(Default)]
pub struct RouteMeasures {
    routes: RwLock<HashMap<String, Arc<RwLock<Vec<Measure>>>>>,
}

struct Measure {
    method: &'static str,
    status: u16,
    requests: Counter,
    seconds: Histogram,
}

impl RouteMeasures {
    pub fn record(&self, route: &str, method: &Method, status: u16, duration: Duration) {
        let method = known_method(method);
        let measures = self.of_route(route);
        let seen = measures.read().is_ok_and(|measures| {
            match measures
                .iter()
                .find(|measure| measure.status == status && measure.method == method)
            {
                Some(measure) => {
                    measure.add(duration);
                    true
                }
                None => false,
            }
        });
        if !seen && let Ok(mut measures) = measures.write() {
            let measure = Measure::new(route, method, status);
            measure.add(duration);
            measures.push(measure);
        }
    }

    fn of_route(&self, route: &str) -> Arc<RwLock<Vec<Measure>>> {
        let known = self.routes.read().map_or(None, |routes| routes.get(route).cloned());
        known.unwrap_or_else(|| match self.routes.write() {
            Ok(mut routes) => Arc::clone(routes.entry(route.to_owned()).or_default()),
            Err(_) => Arc::default(),
        })
    }
}

impl Measure {
    fn new(route: &str, method: &'static str, status: u16) -> Self {
        let labels = [("route", route.to_owned()), ("method", method.to_owned())];
        Self {
            method,
            status,
            requests: counter!("slated_http_requests_total", "route" => route.to_owned(),
                "method" => method, "status" => status.to_string()),
            seconds: histogram!("slated_http_request_seconds", &labels),
        }
    }

    fn add(&self, duration: Duration) {
        self.requests.increment(1);
        self.seconds.record(duration.as_secs_f64());
    }
}

/// A client may invent methods; the metrics do not grow with them.
pub(super) fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
