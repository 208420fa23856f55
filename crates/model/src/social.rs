//! Profiles on social networks: their addresses, the public handles in them, and which of them name
//! the same somebody.

use percent_encoding::percent_decode_str;

use crate::problem::FieldErrorCode;
use crate::text::Lines;

const MAX_HANDLE_LENGTH: usize = 255;
const MAX_HOST_LENGTH: usize = 253;

/// What addresses end in that name a page and nobody.
const PAGES: [&str; 12] = [
    "profile.php",
    "index.html",
    "index.htm",
    "index.php",
    "home",
    "about",
    "cv",
    "resume",
    "people",
    "posts",
    "details",
    "contact",
];
/// Where everybody has a host of their own, so that what stands in front is no language.
const HOSTERS: [&str; 10] = [
    "github.io",
    "gitlab.io",
    "wordpress.com",
    "blogspot.com",
    "tumblr.com",
    "medium.com",
    "substack.com",
    "netlify.app",
    "vercel.app",
    "pages.dev",
];

/// A profile's address and the handle that it names the person by.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SocialProfile {
    pub url: String,
    pub handle: String,
}

impl SocialProfile {
    /// Reads an address, which may lack its scheme as people write them: `linkedin.com/in/ada`.
    pub fn parse(url: String) -> Result<Self, (FieldErrorCode, String)> {
        let url = with_scheme(url);
        let (_, path) = split(&url).ok_or_else(not_http)?;
        match handle_in(path) {
            Some(handle) if handle.chars().count() > MAX_HANDLE_LENGTH => Err((
                FieldErrorCode::TooLong,
                format!("must contain a handle of at most {MAX_HANDLE_LENGTH} characters"),
            )),
            Some(handle) => Ok(Self { url, handle }),
            None => Err((
                FieldErrorCode::InvalidUrl,
                "must end with the profile's handle, as in https://example.com/in/ada-lovelace"
                    .to_owned(),
            )),
        }
    }

    /// The network that the profile is on: its host, without what stands in front for readers of a
    /// language or a device.
    #[must_use]
    pub fn network(&self) -> String {
        let host = split(&self.url).map_or("", |(host, _)| host).to_lowercase();
        let mut network = host.as_str();
        while let Some((front, rest)) = network.split_once('.')
            && (matches!(front, "www" | "m") && rest.contains('.')
                || front.len() == 2 && is_name_and_ending(rest))
        {
            network = rest;
        }
        network.to_owned()
    }

    /// What names somebody: a handle on a network. On another network the same handle is somebody
    /// else's. It begins with the handle, which holds no slash, so that those of one handle stand
    /// together; empty if the address names nobody.
    #[must_use]
    pub fn identity(&self) -> String {
        if self.handle.is_empty() || PAGES.contains(&self.handle.as_str()) {
            return String::new();
        }
        format!("{}/{}", self.handle, self.network())
    }

    /// Whether the two say that they belong to different persons: they name other handles on one
    /// network.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        let (one, another) = (self.identity(), other.identity());
        !one.is_empty()
            && !another.is_empty()
            && self.handle != other.handle
            && self.network() == other.network()
    }
}

/// Whether what is left of a host is that of a network: `xing.com`. An ending such as `co.uk` is
/// none.
fn is_name_and_ending(host: &str) -> bool {
    !HOSTERS.contains(&host)
        && host.split_once('.').is_some_and(|(name, ending)| name.len() > 3 && !ending.is_empty())
}

/// The address with https in front if it has no scheme and begins as a host does.
fn with_scheme(url: String) -> String {
    let host = &url[..url.find(['/', '?', '#', ':']).unwrap_or(url.len())];
    match !url.contains("://") && host.contains('.') {
        true => format!("https://{url}"),
        false => url,
    }
}

/// Any http or https URL.
pub fn http_url(url: String) -> Result<String, (FieldErrorCode, String)> {
    match split(&url) {
        Some(_) => Ok(url),
        None => Err(not_http()),
    }
}

fn not_http() -> (FieldErrorCode, String) {
    (
        FieldErrorCode::InvalidUrl,
        "must be a URL of the form http://host/… or https://host/…, with a plain host name"
            .to_owned(),
    )
}

/// The host and what follows it, if this is an http or https URL.
fn split(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    let host_is_sound = host.len() <= MAX_HOST_LENGTH
        && host.starts_with(|first: char| first.is_alphanumeric())
        && !host.contains("..")
        && host
            .chars()
            .all(|character| character.is_alphanumeric() || character == '.' || character == '-');
    let port_is_sound = port.len() <= 5
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && port.parse::<u16>().is_ok();
    (host_is_sound
        && port_is_sound
        && !url.contains(|character: char| character.is_whitespace() || character.is_control()))
    .then_some((host, path))
}

/// The segment after `/in/`, else the last one: percent-decoded and in lower case.
fn handle_in(path: &str) -> Option<String> {
    let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    let last = segments.clone().next_back()?;
    let segment = match segments.by_ref().any(|segment| segment.eq_ignore_ascii_case("in")) {
        true => segments.next()?,
        false => last,
    };
    let decoded =
        percent_decode_str(segment).decode_utf8().map_or_else(|_| segment.to_owned(), Into::into);
    let handle = decoded.trim().to_lowercase();
    let sound = !handle.is_empty()
        && handle.chars().all(|character| character != '/' && Lines::One.allow(character));
    sound.then_some(handle)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn handle(url: &str) -> Option<String> {
        SocialProfile::parse(url.to_owned()).ok().map(|profile| profile.handle)
    }

    #[test]
    fn the_handle_is_the_segment_after_in_or_the_last_one() {
        for (url, expected) in [
            ("https://social.example/in/Ada-Lovelace", "ada-lovelace"),
            ("https://www.social.example/in/ada/?trk=x#top", "ada"),
            ("http://social.example/in/ada/details/experience/", "ada"),
            ("HTTPS://social.example/pub/Ada", "ada"),
            ("https://social.example:8443/ada?x=/in/bob", "ada"),
            ("https://social.example/in/J%C3%BCrgen", "jürgen"),
            ("https://social.example/in/100%25", "100%"),
            ("https://social.example/in/%FF", "%ff"),
            ("https://social.example//in//ada//", "ada"),
            ("social.example/in/ada", "ada"),
            ("www.social.example:8443/Ada?x=1", "ada"),
        ] {
            assert_eq!(handle(url).as_deref(), Some(expected), "{url}");
        }
    }

    #[test]
    fn what_names_nobody_is_refused() {
        for url in [
            "n/a",
            "ada",
            "localhost/in/ada",
            "ada@social.example",
            "mailto:ada@social.example",
            "www.social.example",
            "https://social.example/in/ada%2Fb",
            "ftp://social.example/in/ada",
            "https://",
            "https:///in/ada",
            "https://social.example",
            "https://social.example/",
            "https://social.example/in/",
            "https://social example/in/ada",
            "https://social..example/in/ada",
            "https://social.example:port/in/ada",
            "https://social.example:/in/ada",
            "https://social.example:+80/in/ada",
            "https://social.example:65536/in/ada",
            "javascript://social.example/in/ada",
            "https://social.example/in/%20",
            "https://social.example/in/%00",
        ] {
            assert_eq!(handle(url), None, "{url}");
        }
    }

    #[test]
    fn an_address_without_a_scheme_is_one_of_https() {
        let url = |written: &str| {
            SocialProfile::parse(written.to_owned()).map(|profile| profile.url).ok()
        };
        assert_eq!(url("social.example/in/ada").as_deref(), Some("https://social.example/in/ada"));
        assert_eq!(
            url("HTTP://social.example/in/ada").as_deref(),
            Some("HTTP://social.example/in/ada")
        );
    }

    #[test]
    fn a_network_is_the_host_without_what_stands_in_front() {
        for (host, network) in [
            ("linkedin.com", "linkedin.com"),
            ("WWW.LinkedIn.com:443", "linkedin.com"),
            ("de.linkedin.com", "linkedin.com"),
            ("www.m.xing.com", "xing.com"),
            ("vk.com", "vk.com"),
            ("ab.co.uk", "ab.co.uk"),
            ("m.example", "m.example"),
            ("www.example", "www.example"),
            ("people.social.example", "people.social.example"),
            ("ab.github.io", "ab.github.io"),
        ] {
            let profile = SocialProfile::parse(format!("https://{host}/in/ada")).unwrap();
            assert_eq!(profile.network(), network, "{host}");
        }
    }

    #[test]
    fn only_two_handles_on_one_network_contradict_each_other() {
        let profile = |url: &str| SocialProfile::parse(url.to_owned()).unwrap();
        let ada = profile("https://linkedin.com/in/ada");
        assert!(ada.contradicts(&profile("https://de.linkedin.com/in/ada-2")));
        for other in [
            profile("www.linkedin.com/pub/ADA"),
            profile("https://github.com/bob"),
            SocialProfile::default(),
        ] {
            assert!(!ada.contradicts(&other) && !other.contradicts(&ada), "{}", other.url);
        }
        assert_eq!(ada.identity(), "ada/linkedin.com");
        assert_eq!(SocialProfile::default().identity(), "");
        let (one, other) = (
            profile("https://facebook.com/profile.php?id=1"),
            profile("https://facebook.com/profile.php?id=2"),
        );
        assert_eq!((one.identity(), other.identity()), (String::new(), String::new()));
        assert!(!one.contradicts(&ada) && !one.contradicts(&profile("https://facebook.com/ada")));
    }

    #[test]
    fn a_handle_that_is_too_long_is_said_to_be() {
        let parse = |length: usize| {
            SocialProfile::parse(format!("https://social.example/in/{}", "%C3%A9".repeat(length)))
        };
        assert_eq!(parse(255).map(|profile| profile.handle), Ok("é".repeat(255)));
        assert_eq!(parse(256).map_err(|(flaw, _)| flaw), Err(FieldErrorCode::TooLong));
    }

    proptest! {
        #[test]
        fn a_handle_is_the_same_in_any_case_and_with_any_query(name in "[a-zA-Z0-9-]{1,30}",
            query in "[a-z=&/]{0,20}") {
            let plain = handle(&format!("https://social.example/in/{name}"));
            prop_assert_eq!(&plain, &Some(name.to_lowercase()));
            prop_assert_eq!(handle(&format!("https://social.example/in/{}/?{query}",
                name.to_uppercase())), plain);
        }

        #[test]
        fn reading_a_url_never_panics(url in "\\PC*") {
            let _ = handle(&url);
        }
    }
}
