//! Rules for single strings: what characters they may hold, how long they may be, and how two are
//! compared.

/// The longest that each kind of text may be: a line in characters, longer text in bytes.
pub mod limit {
    pub const NAME: usize = 255;
    pub const EMAIL: usize = 254;
    pub const PHONE: usize = 64;
    pub const URL: usize = 2048;
    pub const NOTE: usize = 64 * 1024;
    pub const DESCRIPTION: usize = 16 * 1024;
    pub const ADDRESS: usize = 1024;
    pub const CONTACTS: usize = 50;
}

/// A single line holds no control characters; longer text may hold line breaks and tabs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    One,
    Many,
}

impl Lines {
    #[must_use]
    pub fn allow(self, character: char) -> bool {
        match character {
            '\n' | '\r' | '\t' => self == Self::Many,
            '\0'..='\u{1f}' | '\u{7f}' => false,
            _ => true,
        }
    }
}

/// Where the digits of a script begin, but for ASCII: in each of them ten follow each other, from
/// zero to nine.
pub const ZEROS: [u32; 36] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
    0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

/// The digits of a text, in any common script, as ASCII.
pub fn digits(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter_map(ascii_digit)
}

fn ascii_digit(character: char) -> Option<char> {
    if character.is_ascii() {
        return character.is_ascii_digit().then_some(character);
    }
    let code = u32::from(character);
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last()?;
    char::from_digit(code - zero, 10)
}

/// The form under which two names count as the same: lower case, each run of spaces as one.
#[must_use]
pub fn comparison_key(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        if word.is_ascii() {
            folded.extend(word.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
        } else {
            folded.push_str(&word.to_lowercase());
        }
    }
    folded
}

/// No field or parameter has a longer name.
const MAX_NAME_LENGTH: usize = 64;

/// A name that a client wrote, short enough to be told again.
#[must_use]
pub fn shorten(written: &str) -> String {
    match written.char_indices().nth(MAX_NAME_LENGTH) {
        Some((end, _)) => format!("{}…", &written[..end]),
        None => written.to_owned(),
    }
}

/// Names that other interfaces have for the same, and what they are called here, the likeliest
/// first.
const OTHERWISE_CALLED: &[(&[&str], &[&str])] = &[
    (
        &["phone", "phones", "phone_number", "telephone", "mobile"],
        &["phone_numbers", "phone", "phone_number", "mobile_phone"],
    ),
    (&["email", "email_address", "mail"], &["emails", "email", "work_email"]),
    (
        &["stage", "pipeline_stage", "status"],
        &["stage_name", "stage_id", "job_status_name", "status"],
    ),
    (&["search", "query", "text", "keywords"], &["q"]),
    (&["page", "skip", "start"], &["offset", "cursor"]),
    (&["per_page", "page_size", "count", "size"], &["limit"]),
    (&["order", "order_by", "sort_by"], &["sort"]),
    (&["title", "job_title"], &["current_job_title"]),
    (&["company", "current_company", "employer"], &["company_name"]),
    (&["location", "city"], &["social_location"]),
    (&["linkedin", "linkedin_url", "url", "profile"], &["social_url"]),
    (&["id", "external_id", "source_id"], &["external_source_id"]),
    (&["note", "comment"], &["notes"]),
];

/// The name of `known` that is meant by what was written: one for the same thing, else the nearest
/// if it is near enough.
#[must_use]
pub fn did_you_mean<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    if written.len() > MAX_NAME_LENGTH {
        return None;
    }
    let written = written.to_lowercase();
    let same = OTHERWISE_CALLED.iter().find(|(names, _)| names.contains(&written.as_str()));
    let same = same.and_then(|(_, ours)| {
        ours.iter().find_map(|ours| known.iter().find(|known| *known == ours))
    });
    same.copied().or_else(|| nearest(&written, known))
}

fn nearest<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    let length = written.chars().count();
    // Names of too different a length cannot be alike, and need not be compared.
    let may_be_alike = |name: &&&str| length.abs_diff(name.len()) * 5 <= length.max(name.len()) * 2;
    known
        .iter()
        .filter(may_be_alike)
        .map(|name| (strsim::normalized_damerau_levenshtein(written, name), *name))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_and_spaces_do_not_make_another_name() {
        assert_eq!(comparison_key("  Ädler \t &  Söhne "), "ädler & söhne");
        assert_eq!(comparison_key("ACME"), comparison_key("acme"));
    }

    #[test]
    fn digits_of_any_script_are_digits() {
        for number in [
            "050 123-4567 x8",
            "٠٥٠ ١٢٣ ٤٥٦٧/٨",
            "۰۵۰۱۲۳۴۵۶۷۸",
            "०५०१२३४५६७८",
            "０５０（１２３）４５６７８",
        ] {
            assert_eq!(digits(number).collect::<String>(), "05012345678", "{number}");
        }
        assert_eq!(digits("½ ² Ⅷ 四 e").collect::<String>(), "");
    }

    #[test]
    fn a_slip_of_the_pen_finds_the_field_that_was_meant() {
        let known = ["name", "first_name", "current_job_title"];
        assert_eq!(did_you_mean("frist_name", &known), Some("first_name"));
        assert_eq!(did_you_mean("currentJobTitle", &known), Some("current_job_title"));
        assert_eq!(did_you_mean("favourite_colour", &known), None);
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in "\\PC*") {
            prop_assert_eq!(comparison_key(&comparison_key(&text)), comparison_key(&text));
        }
    }
}
