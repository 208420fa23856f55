//! The professional social network: a profile's address and the public handle in it.

use percent_encoding::percent_decode_str;

use crate::problem::Flaw;
use crate::text::Lines;

const LONGEST_HANDLE: usize = 255;

/// A profile's address and the handle that it names the person by.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SocialProfile {
    pub url: String,
    pub handle: String,
}

impl SocialProfile {
    pub fn parse(url: String) -> Result<Self, (Flaw, String)> {
        let path = path_of(&url).ok_or_else(not_http)?;
        match handle_in(path) {
            Some(handle) if handle.chars().count() > LONGEST_HANDLE => {
                Err((Flaw::TooLong, format!("must name a handle of at most {LONGEST_HANDLE} characters")))
            }
            Some(handle) => Ok(Self { url, handle }),
            None => Err((Flaw::InvalidUrl, "must end in the profile's handle, as in https://example.com/in/ada-lovelace".to_owned())),
        }
    }
}

/// Any http or https URL.
pub fn http_url(url: String) -> Result<String, (Flaw, String)> {
    match path_of(&url) {
        Some(_) => Ok(url),
        None => Err(not_http()),
    }
}

fn not_http() -> (Flaw, String) {
    (Flaw::InvalidUrl, "must be a URL of the form http://host/… or https://host/…, with a plain host name".to_owned())
}

/// What follows the host, if this is an http or https URL.
fn path_of(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    let host_is_sound = host.starts_with(|first: char| first.is_alphanumeric())
        && !host.contains("..")
        && host.chars().all(|character| character.is_alphanumeric() || character == '.' || character == '-');
    let port_is_sound = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    (host_is_sound && port_is_sound && !url.contains(|character: char| character.is_whitespace() || character.is_control())).then_some(path)
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
    let decoded = percent_decode_str(segment).decode_utf8().map_or_else(|_| segment.to_owned(), Into::into);
    let handle = decoded.trim().to_lowercase();
    let sound = !handle.is_empty() && handle.chars().all(|character| Lines::One.allow(character));
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
        ] {
            assert_eq!(handle(url).as_deref(), Some(expected), "{url}");
        }
    }

    #[test]
    fn what_names_nobody_is_refused() {
        for url in [
            "social.example/in/ada",
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
    fn a_handle_that_is_too_long_is_said_to_be() {
        let parse = |length: usize| SocialProfile::parse(format!("https://social.example/in/{}", "%C3%A9".repeat(length)));
        assert_eq!(parse(255).map(|profile| profile.handle), Ok("é".repeat(255)));
        assert_eq!(parse(256).map_err(|(flaw, _)| flaw), Err(Flaw::TooLong));
    }

    proptest! {
        #[test]
        fn a_handle_is_the_same_in_any_case_and_with_any_query(name in "[a-zA-Z0-9-]{1,30}", query in "[a-z=&/]{0,20}") {
            let plain = handle(&format!("https://social.example/in/{name}"));
            prop_assert_eq!(&plain, &Some(name.to_lowercase()));
            prop_assert_eq!(handle(&format!("https://social.example/in/{}/?{query}", name.to_uppercase())), plain);
        }

        #[test]
        fn reading_a_url_never_panics(url in "\\PC*") {
            let _ = handle(&url);
        }
    }
}
