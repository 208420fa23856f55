use proptest::prelude::*;

use super::*;
use crate::clock::Timestamp;

fn company(number: u128) -> CompanyId {
    CompanyId::at(Timestamp::from_millis(1), number)
}

/// The places of all who answer, as a segment has them: the best first.
fn found(
    documents: &[(String, Option<CompanyId>)],
    question: &Question,
    employer: Option<CompanyId>,
    at_once: usize,
) -> Vec<usize> {
    let mut gathered = Gathered::default();
    for (tokens, company) in documents {
        gathered.add(tokens, *company);
    }
    let (groups, terms) = (gathered.groups(), question.terms(employer));
    let mut having = Having::new(documents.len(), terms.len());
    for (place, term) in terms.iter().enumerate() {
        let (first, last) = term.letters();
        for Group { letters, words } in
            groups.iter().filter(|group| (&first..=&last).contains(&&group.letters))
        {
            having.look_at(place, term, letters, words).unwrap();
        }
    }
    having.finish();
    let count = having.count();
    let mut found = Vec::new();
    for weight in Weight::ALL {
        for are_whole in [true, false] {
            loop {
                let taken = having.take(weight, are_whole, at_once);
                if taken.is_empty() {
                    break;
                }
                found.extend(taken);
            }
        }
    }
    assert_eq!((count, having.count()), (found.len(), 0));
    found
}

#[test]
fn groups_are_in_order_and_have_the_first_letters_of_their_words() {
    let mut gathered = Gathered::default();
    gathered.add("1anna 2annabel 3an 3a 3张伟华明 =p0", None);
    gathered.add("1anton", Some(company(1)));
    let letters: Vec<_> = gathered.groups().into_iter().map(|group| group.letters).collect();
    assert_eq!(
        letters,
        ["==0", "a", "an", "ann", "ant", "张伟华"]
            .map(|letters| letters.replace("==0", &letters_of(company(1))))
    );
}

fn letters_of(company: CompanyId) -> String {
    first_letters(&of_company(company)).unwrap().to_owned()
}

#[test]
fn only_those_are_taken_who_are_kept() {
    let mut gathered = Gathered::default();
    (0..200).for_each(|_| gathered.add("1anna", None));
    let (groups, terms) = (gathered.groups(), Question::parse("ann").unwrap().terms(None));
    for places in [0..200, 0..0, 63..65, 199..200, 200..200, 64..128] {
        let mut having = Having::new(200, 1);
        having.look_at(0, &terms[0], "ann", &groups[0].words).unwrap();
        having.finish();
        having.keep(places.clone());
        assert_eq!(having.count(), places.len());
        assert_eq!(having.take(Weight::Best, false, 1000), places.collect::<Vec<_>>());
    }
}

#[test]
fn what_cannot_be_read_is_not_taken_for_nothing() {
    let mut gathered = Gathered::default();
    gathered.add("1anna", None);
    let groups = gathered.groups();
    let (question, whole) = (Question::parse("anna").unwrap(), &groups[0].words);
    let term = &question.terms(None)[0];
    for length in 1..whole.len() {
        assert_eq!(Having::new(1, 1).look_at(0, term, "ann", &whole[..length]), None, "{length}");
    }
    assert_eq!(Having::new(1, 1).look_at(0, term, "ann", whole), Some(()));
    // A place that nobody has.
    assert_eq!(Having::new(1, 1).look_at(0, term, "ann", &[1, b'a', 5, 2, 100, 0, 0, 0]), None);
}

fn tokens() -> impl Strategy<Value = String> {
    let token = ("[123]", prop_oneof!["[ab张]{1,3}", "[abé]{2,6}"])
        .prop_map(|(mark, word)| format!("{mark}{word}"));
    proptest::collection::vec(token, 0..6).prop_map(|mut tokens| {
        tokens.sort_unstable_by(|one, other| one[1..].cmp(&other[1..]).then(one.cmp(other)));
        tokens.dedup_by(|next, kept| next[1..] == kept[1..]);
        tokens.sort_unstable();
        tokens.join(" ")
    })
}

proptest! {
    #[test]
    fn a_segment_finds_whoever_answers_the_best_first(
        documents in proptest::collection::vec((tokens(), 0..3u128), 1..200),
        words in proptest::collection::vec("[ab张]{1,4}", 1..4),
        employer in 0..3u128,
        at_once in 1..50usize,
    ) {
        let question = Question::parse(&words.join(" ")).unwrap();
        let documents: Vec<_> = documents.into_iter().map(|(tokens, number)| (tokens,
            (number > 0).then(|| company(number)))).collect();
        let employer = (employer > 0).then(|| company(employer));
        let answers = documents.iter().enumerate().filter(|(_,
            (_, company))| employer.is_none() || *company == employer);
        let mut expected: Vec<_> = answers.filter_map(|(place,
            (tokens, _))| Some((question.answer_in(tokens)?, place))).collect();
        expected.sort_unstable();
        let expected: Vec<_> = expected.into_iter().map(|(_, place)| place).collect();
        prop_assert_eq!(found(&documents, &question, employer, at_once), expected);
    }
}
