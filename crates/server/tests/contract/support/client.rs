use serde_json::Value;
use ureq::Agent;
use ureq::http::{HeaderMap, Request, Response};

use super::wait::DEADLINE;

/// A client of one server, with headers that go along with every request.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    base: String,
    headers: HeaderMap,
}

impl Client {
    pub fn new(address: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .proxy(None)
            .max_redirects(0)
            .timeout_global(Some(DEADLINE));
        Self {
            agent: config.build().into(),
            base: format!("http://{address}"),
            headers: HeaderMap::new(),
        }
    }

    /// The same client with one more header, or with another value for it.
    #[must_use]
    pub fn with(&self, name: &'static str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.insert(name, value.parse().unwrap());
        client
    }

    /// The same client with one more header, be it another of the same name.
    #[must_use]
    pub fn with_also(&self, name: &'static str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.append(name, value.parse().unwrap());
        client
    }

    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        self.with("authorization", &format!("Bearer {key}"))
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, Some(body))
    }

    pub fn patch(&self, path: &str, body: &Value) -> Reply {
        self.send("PATCH", path, Some(body))
    }

    pub fn put(&self, path: &str, body: &Value) -> Reply {
        self.send("PUT", path, Some(body))
    }

    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.try_send(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Like `send`, for a server that may go away.
    pub fn try_send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, ureq::Error> {
        match body {
            None => self.run(method, path, ()),
            Some(body) if self.headers.contains_key("content-type") => {
                self.run(method, path, body.to_string())
            }
            Some(body) => {
                self.with("content-type", "application/json").run(method, path, body.to_string())
            }
        }
    }

    /// Sends just these bytes with just the headers that were set.
    pub fn send_bytes(&self, method: &str, path: &str, body: &[u8]) -> Reply {
        self.run(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    fn run(
        &self,
        method: &str,
        path: &str,
        body: impl ureq::AsSendBody,
    ) -> Result<Reply, ureq::Error> {
        let mut request =
            Request::builder().method(method).uri(format!("{}{path}", self.base)).body(body)?;
        request.headers_mut().extend(self.headers.clone());
        Reply::read(format!("{method} {path}"), self.agent.run(request)?)
    }
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    request: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    pub json: Value,
}

impl Reply {
    fn read(request: String, mut response: Response<ureq::Body>) -> Result<Self, ureq::Error> {
        let text = String::from_utf8_lossy(
            &response.body_mut().with_config().limit(64 * 1024 * 1024).read_to_vec()?,
        )
        .into_owned();
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Self {
            request,
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text,
            json,
        })
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:#?}");
        self
    }

    /// Expects a refusal with that status and code.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let reply = self.expect(status);
        assert_eq!(reply.error_code(), code, "{reply:#?}");
        reply
    }

    #[track_caller]
    pub fn data(&self) -> &Value {
        assert_eq!(self.json["success"], true, "{self:#?}");
        &self.json["data"]
    }

    /// The entries of a list.
    #[track_caller]
    pub fn entries(&self) -> &[Value] {
        self.data().as_array().unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// A string of the record that came back.
    #[track_caller]
    pub fn string(&self, field: &str) -> String {
        self.data()[field]
            .as_str()
            .unwrap_or_else(|| panic!("no string in {field}: {self:#?}"))
            .to_owned()
    }

    #[track_caller]
    pub fn id(&self) -> String {
        self.string("id")
    }

    #[track_caller]
    pub fn error_code(&self) -> &str {
        assert_eq!(self.json["success"], false, "{self:#?}");
        self.json["error"]["code"].as_str().unwrap_or_else(|| panic!("{self:#?}"))
    }

    #[track_caller]
    fn details(&self) -> &[Value] {
        self.json["error"]["details"].as_array().unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// The fields that are named as wrong, in the order of their names.
    #[track_caller]
    pub fn detail_fields(&self) -> Vec<&str> {
        let mut fields: Vec<_> =
            self.details().iter().map(|detail| detail["field"].as_str().unwrap()).collect();
        fields.sort_unstable();
        fields
    }

    /// What is wrong with that field.
    #[track_caller]
    pub fn flaw(&self, field: &str) -> &str {
        let detail = self.details().iter().find(|detail| detail["field"] == field);
        detail.unwrap_or_else(|| panic!("nothing about {field}: {self:#?}"))["code"]
            .as_str()
            .unwrap()
    }

    /// The records that stand in the way, in the order of their ids, each once.
    #[track_caller]
    pub fn record_ids(&self) -> Vec<&str> {
        let mut ids: Vec<_> =
            self.details().iter().filter_map(|detail| detail["record_id"].as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn etag(&self) -> &str {
        self.header("etag").unwrap_or_else(|| panic!("no ETag on {}: {self:#?}", self.request))
    }
}
