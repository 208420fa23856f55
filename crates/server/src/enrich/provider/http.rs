//! A service that is asked over HTTP. Where it is and what it is told comes from the configuration,
//! so its address is judged as that of a webhook, but it is sent nowhere else: its headers hold
//! secrets.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use serde_json::Value;
use slated_model::clock::Timestamp;
use slated_model::enrichment::Question;

use super::mapping::Mapping;
use super::template::{BodyTemplate, Placeholder, UrlTemplate};
use super::{Answer, Asking, MAX_RESPONSE_BYTES, Provider, Trouble};
use crate::config::{Method, ProviderConfig};
use crate::outbound::{AllowedAddresses, Redirects, client, explain, retry_after};

const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// These are for the program to say.
const RESERVED: [&str; 5] =
    [IDEMPOTENCY_KEY, "host", "content-length", "transfer-encoding", "connection"];
const JSON: &str = "application/json";

pub struct Http {
    client: Client,
    method: reqwest::Method,
    url: UrlTemplate,
    headers: HeaderMap,
    body: Option<BodyTemplate>,
    /// One of these must be known.
    needs: Vec<Placeholder>,
    /// None if the service answers in our own shape.
    mapping: Option<Mapping>,
    timeout: Duration,
}

impl Http {
    /// `variable` gives the value of an environment variable.
    pub fn new(
        config: &ProviderConfig,
        targets: &AllowedAddresses,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let written = config.url.as_deref().ok_or(
            "url is missing; set it as in url = \"https://api.example.com/person?email={email}\"",
        )?;
        let url = UrlTemplate::parse(written, targets).map_err(|reason| format!("url {reason}"))?;
        let method = config.method.unwrap_or_default();
        if method == Method::Get && config.body.is_some() {
            return Err("body is for method = \"POST\"".to_owned());
        }
        let body = config.body.as_ref().map(BodyTemplate::parse).transpose()?;
        let timeout = config.timeout.duration();
        Ok(Self {
            client: client(targets, timeout, Redirects::Left)?,
            method: match method {
                Method::Get => reqwest::Method::GET,
                Method::Post => reqwest::Method::POST,
            },
            needs: read_needs(config.needs.as_deref(), &url, body.as_ref())?,
            headers: read_headers(config.headers.as_ref(), body.is_some(), variable)?,
            mapping: config.mapping.as_ref().map(Mapping::read).transpose()?,
            url,
            body,
            timeout,
        })
    }

    async fn call(&self, question: &Question, call: &str) -> Result<Answer, Trouble> {
        let too_little = || Trouble::Refused("too little is known of the person to ask".to_owned());
        let url = self.url.fill(question).ok_or_else(too_little)?;
        let mut request = self
            .client
            .request(self.method.clone(), url)
            .headers(self.headers.clone())
            .header(IDEMPOTENCY_KEY, call);
        if let Some(body) = self.body.as_ref().and_then(|body| body.fill(question)) {
            request = request.body(body.to_string());
        }
        let mut response = request.send().await.map_err(|error| self.no_answer(error))?;
        let status = response.status().as_u16();
        let cost = self.mapping.as_ref().and_then(|mapping| mapping.cost_in(response.headers()));
        match judge(status) {
            Verdict::Nobody => Ok(Answer { cost, ..Answer::nobody() }),
            Verdict::Answered => {
                let answer = self.read(&mut response).await?;
                let cost = cost
                    .or_else(|| self.mapping.as_ref().and_then(|mapping| mapping.cost_of(&answer)));
                Ok(Answer { cost, ..self.understand(answer)? })
            }
            Verdict::Busy => {
                let seconds = retry_after(response.headers(), Timestamp::now());
                let retry_after =
                    seconds.map(|seconds| Duration::from_secs(seconds.max(0).unsigned_abs()));
                Err(Trouble::Busy { retry_after, reason: told(status) })
            }
            Verdict::Failed => Err(Trouble::Failed(told(status))),
            Verdict::Refused => Err(Trouble::Refused(told(status))),
        }
    }

    fn no_answer(&self, error: reqwest::Error) -> Trouble {
        Trouble::Failed(explain(error, self.timeout))
    }

    async fn read(&self, response: &mut Response) -> Result<Value, Trouble> {
        let mut read = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.no_answer(error))? {
            read.extend_from_slice(&chunk);
            if read.len() > MAX_RESPONSE_BYTES {
                return Err(Trouble::Failed(format!(
                    "its answer is larger than {} MiB",
                    MAX_RESPONSE_BYTES / (1024 * 1024)
                )));
            }
        }
        serde_json::from_slice(&read)
            .map_err(|error| Trouble::Failed(format!("its answer is not valid JSON: {error}")))
    }

    fn understand(&self, answer: Value) -> Result<Answer, Trouble> {
        match (&self.mapping, answer) {
            (_, Value::Null) => Ok(Answer::nobody()),
            (Some(mapping), answer) => {
                let profile = mapping.apply(&answer).map_err(Trouble::Failed)?;
                Ok(profile.map_or_else(Answer::nobody, Answer::free))
            }
            (None, answer) if answer.is_object() => Ok(Answer::free(answer)),
            (None, _) => Err(Trouble::Failed("its answer is not a JSON object".to_owned())),
        }
    }
}

impl Provider for Http {
    fn can_ask(&self, question: &Question) -> bool {
        self.needs.iter().any(|needed| needed.value(question).is_some())
            && self.url.fill(question).is_some()
    }

    fn ask<'a>(&'a self, question: &'a Question, call: &'a str) -> Asking<'a> {
        Box::pin(self.call(question, call))
    }
}

/// What the status of an answer means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Answered,
    Nobody,
    Busy,
    Failed,
    Refused,
}

const fn judge(status: u16) -> Verdict {
    match status {
        204 | 404 => Verdict::Nobody,
        200..=299 => Verdict::Answered,
        429 | 503 => Verdict::Busy,
        // The question may be good: it is the key, the account or the line that is not.
        401..=403 | 408 => Verdict::Failed,
        400..=499 => Verdict::Refused,
        _ => Verdict::Failed,
    }
}

fn told(status: u16) -> String {
    let why = match status {
        300..=399 => ", which is a redirect and is not followed",
        401 | 403 => "; check the key in the provider's headers",
        402 => ", which asks for payment",
        429 => ", which means too many calls",
        _ => "",
    };
    format!("it answered {status}{why}")
}

/// Those that are named, or else those of the call that say by themselves who is meant.
fn read_needs(
    written: Option<&[String]>,
    url: &UrlTemplate,
    body: Option<&BodyTemplate>,
) -> Result<Vec<Placeholder>, String> {
    let used: Vec<_> = url
        .placeholders()
        .chain(body.map(BodyTemplate::placeholders).unwrap_or_default())
        .collect();
    if used.is_empty() {
        return Err(
            "url or body must identify the person with a placeholder, as in {social_url} or \
             {email}"
                .to_owned(),
        );
    }
    if let Some(written) = written {
        let read = |name: &String| {
            let placeholder =
                Placeholder::parse(name).map_err(|reason| format!("needs {reason}"))?;
            match used.contains(&placeholder) {
                true => Ok(placeholder),
                false => Err(format!(
                    "needs names {name:?}, but neither url nor body has {{{name}}}; {}",
                    shown(&used)
                )),
            }
        };
        let needs: Vec<_> = written.iter().map(read).collect::<Result<_, _>>()?;
        return match needs.is_empty() {
            true => {
                Err("needs must name at least one placeholder, as in needs = [\"email\"]"
                    .to_owned())
            }
            false => Ok(needs),
        };
    }
    let needs: Vec<_> =
        used.iter().copied().filter(|placeholder| placeholder.tells_who()).collect();
    match needs.is_empty() {
        true => Err(format!(
            "needs is missing: neither url nor body has a placeholder that identifies a person by \
             itself, such as {{social_url}} or {{email}}; {}",
            shown(&used)
        )),
        false => Ok(needs),
    }
}

/// What there is to be needed.
fn shown(used: &[Placeholder]) -> String {
    let mut names: Vec<_> = used.iter().map(|placeholder| placeholder.name()).collect();
    names.sort_unstable();
    names.dedup();
    format!("it may name {}", names.join(", "))
}

fn read_headers(
    written: Option<&BTreeMap<String, String>>,
    has_body: bool,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static(JSON));
    if has_body {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    }
    for (name, written) in written.into_iter().flatten() {
        if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
            return Err(format!("headers.{name} is set by the program; omit it"));
        }
        let value = with_variables(written, variable)
            .map_err(|reason| format!("headers.{name} {reason}"))?;
        let known = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("headers.{name} is not a valid header name"))?;
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| format!("headers.{name} must contain only printable ASCII characters"))?;
        value.set_sensitive(true);
        headers.insert(known, value);
    }
    Ok(headers)
}

/// Puts the values of environment variables in the place of `${NAME}`.
fn with_variables(
    written: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = written;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}').ok_or("has a ${ without a closing }")?;
        text.push_str(before);
        text.push_str(
            &variable(name).ok_or_else(|| {
                format!("needs the environment variable {name}, which is not set")
            })?,
        );
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn provider(settings: &str) -> Result<Http, String> {
        let text =
            format!("[[enrichment.provider]]\nname = \"people\"\nkind = \"http\"\n{settings}\n");
        let config = Config::parse("slated.toml", &text)?;
        let variable = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
        Http::new(config.enrichment.providers[0].get_ref(), &AllowedAddresses::default(), &variable)
    }

    fn made(settings: &str) -> Http {
        provider(settings).unwrap_or_else(|reason| panic!("{reason}"))
    }

    fn with_email() -> Question {
        Question { emails: vec!["ada@example.com".to_owned()], ..Question::default() }
    }

    #[test]
    fn a_status_says_what_to_do_next() {
        for (status, expected) in [
            (200, Verdict::Answered),
            (203, Verdict::Answered),
            (204, Verdict::Nobody),
            (404, Verdict::Nobody),
            (429, Verdict::Busy),
            (503, Verdict::Busy),
            (302, Verdict::Failed),
            (401, Verdict::Failed),
            (402, Verdict::Failed),
            (403, Verdict::Failed),
            (408, Verdict::Failed),
            (500, Verdict::Failed),
            (502, Verdict::Failed),
            (400, Verdict::Refused),
            (405, Verdict::Refused),
            (422, Verdict::Refused),
        ] {
            assert_eq!(judge(status), expected, "{status}");
        }
    }

    #[test]
    fn it_is_asked_if_one_thing_is_known_that_it_needs() {
        let url = "url = \
            \"https://api.example.com/?email={email}&profile={social_url}&at={company_name}\"";
        let at_company = Question { company_name: "Acme".to_owned(), ..Question::default() };
        assert!(made(url).can_ask(&with_email()));
        assert!(!made(url).can_ask(&at_company));
        assert!(!made(&format!("{url}\nneeds = [\"social_url\"]")).can_ask(&with_email()));
        assert!(made(&format!("{url}\nneeds = [\"company_name\"]")).can_ask(&at_company));
        assert!(
            !made("url = \"https://api.example.com/{social_public_id}?email={email}\"")
                .can_ask(&with_email())
        );
    }

    #[test]
    fn a_name_is_enough_only_if_that_is_said() {
        let named = Question {
            name: "Ada Lovelace".to_owned(),
            company_name: "Acme".to_owned(),
            ..Question::default()
        };
        let url = "url = \"https://api.example.com/?name={name}&at={company_name}&email={email}\"";
        assert!(!made(url).can_ask(&named));
        assert!(made(&format!("{url}\nneeds = [\"email\", \"name\"]")).can_ask(&named));
        assert!(
            made("url = \"https://api.example.com/{name}\"\nneeds = [\"name\"]").can_ask(&named)
        );
        let with_slash = Question { name: "Ada/Lovelace".to_owned(), ..Question::default() };
        assert!(
            !made("url = \"https://api.example.com/{name}\"\nneeds = [\"name\"]")
                .can_ask(&with_slash)
        );
        let body = "url = \"https://api.example.com/\"\nmethod = \"POST\"\nbody = { who = { mail \
            = \"{email}\" } }";
        assert!(made(body).can_ask(&with_email()));
        assert!(made(&format!("{body}\nneeds = [\"email\"]")).can_ask(&with_email()));
    }

    #[test]
    fn headers_take_variables_and_hide_what_they_hold() {
        let headers = "headers = { Authorization = \"Bearer ${TOKEN}!\", X-Plan = \"pro\" }";
        let http = made(&format!("url = \"https://api.example.com/?e={{email}}\"\n{headers}"));
        assert_eq!(http.headers["authorization"], "Bearer s3cret!");
        assert!(http.headers["authorization"].is_sensitive());
        assert_eq!(http.headers["x-plan"], "pro");
        assert_eq!(http.headers["accept"], "application/json");
        assert!(!http.headers.contains_key("content-type"));
    }

    #[test]
    fn wrong_settings_are_told() {
        let url = "url = \"https://api.example.com/?e={email}\"";
        for (settings, part) in [
            (String::new(), "url is missing"),
            ("url = \"https://api.example.com/\"".to_owned(), "{social_url}"),
            ("url = \"https://api.example.com/\"\nneeds = [\"email\"]".to_owned(), "{social_url}"),
            ("url = \"https://api.example.com/?at={company_name}\"".to_owned(), "needs is missing"),
            (
                "url = \"https://api.example.com/{last_name}?f={first_name}\"".to_owned(),
                "it may name first_name, last_name",
            ),
            (
                format!("{url}\nneeds = [\"email\", \"phone\"]"),
                "neither url nor body has {phone}; it may name email",
            ),
            ("url = \"http://10.0.0.1/?e={email}\"".to_owned(), "--allow-private-targets"),
            (format!("{url}\nbody = {{ a = \"b\" }}"), "POST"),
            (format!("{url}\nneeds = []"), "at least one"),
            (format!("{url}\nneeds = [\"shoe_size\"]"), "needs names \"shoe_size\""),
            (
                format!("{url}\nheaders = {{ A = \"${{MISSING}}\" }}"),
                "environment variable MISSING, which is not set",
            ),
            (format!("{url}\nheaders = {{ A = \"${{TOKEN\" }}"), "without a closing }"),
            (format!("{url}\nheaders = {{ \"a b\" = \"c\" }}"), "not a valid header name"),
            (format!("{url}\nheaders = {{ A = \"ä\\n\" }}"), "printable"),
            (format!("{url}\nheaders = {{ Idempotency-Key = \"c\" }}"), "set by the program"),
            (format!("{url}\nmapping = \"acme\""), "people-data-labs"),
        ] {
            let reason = provider(&settings).err().unwrap_or_else(|| panic!("taken: {settings}"));
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn an_answer_in_our_own_shape_is_taken_as_it_is() {
        let http = made("url = \"https://api.example.com/?e={email}\"");
        let profile = serde_json::json!({ "name": "Ada" });
        assert_eq!(
            http.understand(profile.clone()),
            Ok(Answer { profile: Some(profile), cost: None })
        );
        assert_eq!(http.understand(serde_json::json!({})), Ok(Answer::nobody()));
        assert_eq!(http.understand(Value::Null), Ok(Answer::nobody()));
        assert!(matches!(http.understand(serde_json::json!([1])), Err(Trouble::Failed(_))));
    }
}
