use proptest::prelude::*;

use super::*;

fn split(text: &str) -> Vec<String> {
    words(text).collect()
}

#[test]
fn words_are_without_case_accents_and_punctuation() {
    assert_eq!(split("José  Núñez-Ångström"), ["jose", "nunez", "angstrom"]);
    assert_eq!(split("Jose\u{301}"), ["jose"]);
    assert_eq!(
        split("STRAẞE Straße Søren Łódź Ærø"),
        ["strasse", "strasse", "soren", "lodz", "aero"]
    );
    assert_eq!(split("ada.lovelace@engines.example"), ["ada", "lovelace", "engines", "example"]);
    assert_eq!(split("Иван 张伟 C++"), ["иван", "张伟", "c"]);
    assert!(split(" -- =\u{301} ").is_empty());
}

#[test]
fn a_word_counts_where_it_says_most() {
    let document = Document::new([
        (Field::Notes, "met Ada at Acme"),
        (Field::Company, "Acme"),
        (Field::Name, "Ada"),
    ]);
    assert_eq!(
        document.tokens(["1", "(1)"].into_iter()),
        format!("1ada 2acme 3at 3met {}", phone_token("1"))
    );
}

#[test]
fn the_fields_that_answer_are_named() {
    let question = Question::parse("ADA eng").unwrap();
    let texts =
        [(Field::Notes, "English"), (Field::Name, "Adá Lovelace"), (Field::Title, "Countess")];
    assert_eq!(question.matched(texts), [Field::Name, Field::Notes]);
    assert_eq!(Question::parse(" - "), None);
}

#[test]
fn the_word_that_says_least_weighs() {
    let weight = |question: &str, tokens: &str| {
        Question::parse(question).unwrap().answer_in(tokens).map(|answer| answer.weight)
    };
    let tokens = "1ada 2acme 3acmeist 3london =p0";
    assert_eq!(weight("ada", tokens), Some(Weight::Best));
    assert_eq!(weight("ADA acm", tokens), Some(Weight::Good));
    assert_eq!(weight("lond ada", tokens), Some(Weight::Other));
    assert_eq!(weight("ada paris", tokens), None);
    assert_eq!(weight("l", tokens), None);
    assert_eq!(weight("p0", tokens), None);
    assert_eq!(weight("11", "111 21 3b"), Some(Weight::Best));
}

#[test]
fn an_answer_is_partial_where_a_word_only_begins() {
    let is_partial = |question: &str, tokens: &str| {
        Question::parse(question).unwrap().answer_in(tokens).unwrap().is_partial
    };
    let cases = [
        ("ada", "1ada", false),
        ("ad", "1ada", true),
        ("ada acme", "1ada 2acmeist", true),
        ("ada", "1adam 3ada", true),
    ];
    for (question, tokens, expected) in cases {
        assert_eq!(is_partial(question, tokens), expected, "{question} in {tokens}");
    }
    assert!(!is_partial("ada adam", "1ada 1adam 3c"));
}

#[test]
fn a_single_letter_is_asked_for_as_a_word() {
    let question = Question::parse("c lead").unwrap();
    assert_eq!(question.matched([(Field::Title, "Chief")]), []);
    assert_eq!(question.matched([(Field::Title, "C developer")]), [Field::Title]);
    let asked: Vec<_> = question.asked(Weight::Good).collect();
    assert_eq!(
        asked,
        [
            (vec!["1c".to_owned(), "2c".to_owned()], false),
            (vec!["1lead".to_owned(), "2lead".to_owned()], true)
        ]
    );
}

#[test]
fn phone_numbers_are_like_no_word() {
    let token = phone_token("+44 20 7946-0000");
    assert_eq!(token, phone_token("442079460000"));
    assert!(token.starts_with("=p"));
    assert!(words(&token).all(|word| word != token));
}

#[test]
fn only_what_changes_leaves_and_enters() {
    let changed = Changed::to("1a 1c 2b =p", "1a 1b 2b =h");
    assert_eq!(
        (changed.tokens.as_str(), changed.removed.as_str(), changed.added.as_str()),
        ("1a 1b 2b =h", "1c =p", "1b =h")
    );
    assert_eq!(Changed::to("1a", "1a"), Changed { tokens: "1a".to_owned(), ..Changed::default() });
    assert_eq!(Changed::to("", "1a").added, "1a");
    assert_eq!(
        Changed::to("1a 2b", ""),
        Changed { removed: "1a 2b".to_owned(), ..Changed::default() }
    );
    assert_eq!(Changed::of("1a 2c 3b", "1a 2d", "1a"), None);
    assert_eq!(Changed::of("1a", "1a 2c", "1a"), None);
    let changed = Changed::of("1a 2c 3b 3d", "1a 2c", "1a 2b").unwrap();
    assert_eq!(
        (changed.tokens.as_str(), changed.removed.as_str(), changed.added.as_str()),
        ("1a 2b 3d", "2c 3b", "2b")
    );
}

/// Texts that share words, in other fields.
fn texts() -> impl Strategy<Value = Vec<(Field, String)>> {
    let fields = [Field::Name, Field::Title, Field::Location];
    proptest::collection::vec(
        (proptest::sample::select(fields.to_vec()), "([a-e]{1,2} ){0,3}"),
        0..4,
    )
}

fn borrowed(texts: &[(Field, String)]) -> Vec<(Field, &str)> {
    texts.iter().map(|(field, text)| (*field, text.as_str())).collect()
}

fn tokens_of(texts: &[&[(Field, String)]], phone: &str) -> (Document, String) {
    let document = Document::new(texts.iter().flat_map(|texts| borrowed(texts)));
    let tokens = document.tokens([phone].into_iter());
    (document, tokens)
}

#[test]
fn a_word_that_may_stand_in_json_is_not_missed() {
    let json = r#"[{"title":"Café owner\nLead","started":"2020"}]"#;
    for word in ["cafe", "owner", "lead", "title", "2020", "own"] {
        assert!(may_mention(json, &["absent", word]), "{word}");
        assert!(may_mention(&json.replace('é', "E"), &[word]), "{word}");
    }
    assert!(!may_mention(json, &["absent", "leader"]));
    assert!(!may_mention("", &["a"]));
}

proptest! {
    #[test]
    fn changing_some_texts_is_indexing_anew(before in texts(), after in texts(),
        rest in "([a-e]{1,2} ){0,4}", phone in 0..3u8, other in 0..3u8) {
        let rest = [(Field::Notes, rest)];
        let (old, new) = (phone.to_string(), other.to_string());
        let (document_before, tokens_before) = tokens_of(&[&before], &old);
        let (document_after, tokens_after) = tokens_of(&[&after], &new);
        prop_assume!(!may_mention(&rest[0].1, &document_before.beside(&document_after)));
        let (_, whole) = tokens_of(&[&before, &rest], &old);
        let (_, anew) = tokens_of(&[&after, &rest], &new);
        let changed = Changed::of(&whole, &tokens_before, &tokens_after).unwrap();
        prop_assert_eq!(&changed, &Changed::to(&whole, &anew));
        prop_assert_eq!(changed.tokens, anew);
    }

    #[test]
    fn texts_that_differ_say_as_much_as_all(stays in texts(), before in texts(), after in texts(),
        rest in "([a-k]{1,2} ){0,4}") {
        let rest = [(Field::Notes, rest)];
        let (_, whole) = tokens_of(&[&stays, &before, &rest], "1");
        let (_, anew) = tokens_of(&[&stays, &after, &rest], "1");
        let [before, after] = [&before, &after].map(|texts| [stays.as_slice(), texts].concat());
        let [old, new] = Document::differing(&borrowed(&before), &borrowed(&after));
        prop_assume!(!may_mention(&rest[0].1, &old.beside(&new)));
        let none = || std::iter::empty();
        let changed = Changed::of(&whole, &old.tokens(none()), &new.tokens(none())).unwrap();
        prop_assert_eq!(&changed, &Changed::to(&whole, &anew));
    }

    #[test]
    fn a_word_weighs_what_the_first_token_says_that_answers(texts in texts(),
        asked in "[a-eé张]{1,2}", digits in "[123é张]{1,4}( [123]{1,4}){0,3}") {
        let (_, tokens) = tokens_of(&[&texts, &[(Field::Notes, digits)]], "1");
        for asked in [asked.as_str(), "1", "11", "12", "31", "张", "1张"] {
            let question = Question::parse(asked).unwrap();
            let first = tokens.split(' ').filter_map(weighed).find(|(_, word)| answers(word,
                &question.words[0])).map(|(weight, _)| weight);
            prop_assert_eq!(question.answer_in(&tokens).map(|answer| answer.weight), first, "{} \
                in {}", asked, tokens);
        }
    }

    #[test]
    fn words_that_stand_in_a_text_may_be_mentioned_in_its_json(text in "\\PC{0,40}") {
        let json = serde_json::to_string(&text).unwrap();
        for word in words(&text) {
            prop_assert!(may_mention(&json, &[&word]), "{word:?} in {json}");
        }
    }

    #[test]
    fn words_are_made_of_letters_and_digits(text in "\\PC*") {
        for word in words(&text) {
            prop_assert!(word.chars().all(char::is_alphanumeric), "{word:?}");
            prop_assert!(word.chars().count() <= MAX_WORD_LENGTH);
        }
    }

    #[test]
    fn whoever_is_indexed_under_a_text_is_found_by_its_words(text in "\\PC{1,30}") {
        if let Some(question) = Question::parse(&text) {
            prop_assert_eq!(question.matched([(Field::Name, text.as_str())]), vec![Field::Name]);
        }
    }
}
