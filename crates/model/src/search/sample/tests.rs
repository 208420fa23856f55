use super::*;

const MILLION: u64 = 1_000_000;

fn sample(question: &str, persons: u64, documents: &[(usize, &str)]) -> Sample {
    let documents = documents.iter().flat_map(|(times, document)| std::iter::repeat_n(*document, *times));
    Sample::new(&Question::parse(question).unwrap(), persons, documents)
}

fn common(lists: &[&[&str]]) -> Way {
    Way::Common(lists.iter().map(|list| list.iter().map(|token| (*token).to_owned()).collect()).collect())
}

#[test]
fn what_few_have_is_asked_for_as_it_is() {
    assert_eq!(sample("ada", 50_000, &[(10, "1ada 2acme")]).way(Weight::Other), Way::All);
    assert_eq!(sample("ada", MILLION, &[(100, "1grace 2acme")]).way(Weight::Other), Way::All);
    assert_eq!(sample("ada", MILLION, &[]).way(Weight::Other), Way::All);
    let documents = [(30, "1amara"), (30, "1okafor"), (940, "1grace")];
    assert_eq!(sample("am ok", MILLION, &documents).way(Weight::Best), Way::All);
}

#[test]
fn what_was_not_seen_is_never_asked_for_as_a_token() {
    let sample = |persons| sample("eng oslo", persons, &[(100, "2engineer 3bergen"), (220, "2gardener 3oslo")]);
    for persons in [MILLION, 3 * MILLION, 100 * MILLION] {
        assert_eq!(sample(persons).way(Weight::Good), Way::Rare(vec![1]), "{persons}");
        assert!(matches!(sample(persons).way(Weight::Other), Way::Common(_)), "{persons}");
    }
    assert_eq!(self::sample("xyzzy", 100 * MILLION, &[(320, "1ada")]).way(Weight::Other), Way::All);
}

#[test]
fn a_sample_is_worth_it_where_a_word_may_be_common() {
    let is_worth_it = |question, persons| Sample::is_worth_it(&Question::parse(question).unwrap(), persons);
    assert_eq!([60_000, 70_000].map(|persons| is_worth_it("ada", persons)), [false, true]);
    assert_eq!([30_000, 40_000].map(|persons| is_worth_it("ada lovelace", persons)), [false, true]);
}

#[test]
fn rare_words_lead_to_those_who_have_common_ones_too() {
    let sample = sample("eng ber oslo", MILLION, &[(3, "3berlin"), (4, "1ada 2engineer 3oslo"), (993, "1grace 2engineer")]);
    assert_eq!(sample.way(Weight::Other), Way::Rare(vec![1, 2]));
    assert_eq!(sample.way(Weight::Best), Way::All);
}

#[test]
fn common_words_are_asked_for_as_the_tokens_that_most_have() {
    let documents = [(60, "2engineer 2software"), (30, "3engineering 3software"), (10, "2english 2softly")];
    let sample = sample("eng soft", MILLION, &documents);
    assert_eq!(sample.way(Weight::Best), Way::All);
    assert_eq!(sample.way(Weight::Good), common(&[&["2engineer"], &["2software"]]));
    assert_eq!(sample.way(Weight::Other), common(&[&["2engineer"], &["2software"]]));
}

#[test]
fn more_tokens_are_taken_where_one_is_not_enough() {
    let documents = |others| [(40, "2anna"), (35, "2annie"), (25, "2ann"), (others, "2eve")];
    assert_eq!(sample("ann", MILLION, &documents(0)).way(Weight::Good), common(&[&["2anna"]]));
    let sample = sample("ann", MILLION, &documents(1_300));
    assert_eq!(sample.way(Weight::Good), common(&[&["2anna"]]));
    assert_eq!(sample.many_tokens(Weight::Good), [["2anna", "2annie", "2ann"]]);
    let documents = [(10, "2anna 3bo"), (9, "2annie 3bo"), (181, "2eve 3bo"), (9_800, "2eve")];
    let sample = self::sample("ann bo", 20 * MILLION, &documents);
    assert_eq!(sample.way(Weight::Other), common(&[&["2anna", "2annie"], &["3bo"]]));
}

#[test]
fn a_word_counts_where_it_says_most() {
    let documents = [(50, "1ada 3adam"), (50, "3ada")];
    let sample = sample("ada", 100_000, &documents);
    assert_eq!(sample.way(Weight::Best), Way::All);
    assert_eq!(sample.way(Weight::Other), common(&[&["1ada"]]));
    assert_eq!(sample.many_tokens(Weight::Other), [["1ada", "3ada", "3adam"]]);
}

fn spread(persons: usize) -> Left {
    Left { persons, are_neighbours: false }
}

fn neighbours(persons: usize) -> Left {
    Left { persons, are_neighbours: true }
}

/// A hundredth of a million have a rare word, and a quarter a common one.
fn mixed(question: &str) -> Sample {
    sample(question, MILLION, &[(1, "2rare 2common"), (24, "2common"), (75, "2other")])
}

#[test]
fn few_whom_a_filter_leaves_are_compared_without_a_sample() {
    assert_eq!([1_000, 5_000, 6_000].map(|persons| Sample::are_quickly_compared(spread(persons))), [true, true, false]);
    assert_eq!([13_000, 14_000].map(|persons| Sample::are_quickly_compared(neighbours(persons))), [true, false]);
}

#[test]
fn rare_words_lead_past_a_filter_that_leaves_many() {
    let sample = sample("rare", MILLION, &[(1, "2rare"), (400, "2other")]);
    for left in [20_000, 100_000, 1_000_000] {
        assert_eq!(sample.side(spread(left), 1_000), Side::Words, "{left}");
    }
}

#[test]
fn a_filter_leads_past_words_that_many_have() {
    assert_eq!(mixed("common").side(spread(20_000), 1_000), Side::Filter(6_000, Weight::Good));
    assert_eq!(mixed("common").side(spread(500_000), 1_000), Side::Filter(6_000, Weight::Good));
    assert_eq!(mixed("common").side(spread(5_500), 1_000), Side::Filter(5_500, Weight::Good));
    assert_eq!(mixed("common").side(spread(1_000_000), 1_000), Side::Words);
}

#[test]
fn neighbours_are_sooner_compared() {
    let sample = sample("word", MILLION, &[(4, "2word"), (96, "2other")]);
    assert_eq!(sample.side(spread(500_000), 1_000), Side::Words);
    assert_eq!(sample.side(neighbours(500_000), 1_000), Side::Filter(37_500, Weight::Good));
}

#[test]
fn few_are_not_all_looked_at_if_it_takes_long_to_gather_them() {
    let documents = |common| [(9, "3engineer 3berlin"), (30, "3berlin"), (common, "3engineer"), (961 - common, "2other")];
    let are_few_left = |common, left| sample("eng ber", MILLION, &documents(common)).are_few_left(left, 1_000);
    assert!(are_few_left(9, 1_000_000));
    assert!(!are_few_left(340, 1_000_000));
    assert!(are_few_left(340, 50_000), "nothing else is left to do");
}

#[test]
fn what_is_likely_to_be_more_than_is_shown_is_plenty() {
    assert_eq!([None, Some(2_000), Some(200_000)].map(|left| mixed("rare").are_plenty(left, 1_000)), [true, false, true]);
    assert!(!sample("rare", 100_000, &[(1, "2rare"), (99, "2other")]).are_plenty(None, 1_000));
}

#[test]
fn keys_lead_to_few_of_those_whom_a_filter_leaves() {
    let documents = [(5, "2software 2engineer"), (15, "3softball 3english"), (80, "3engagement")];
    let [both, one, short] = ["softw engi", "softw", "engi so"].map(|question| sample(question, MILLION, &documents));
    let found = |sample: &Sample, left: [usize; 3]| left.map(|left| sample.likely_by_keys(Some(left)));
    assert_eq!(found(&both, [10_000, 12_000, 16_000]), [Some(2_000), Some(2_400), None]);
    assert_eq!(found(&one, [7_000, 8_000, 100_000]), [Some(1_400), None, None]);
    assert_eq!(found(&short, [4_000, 4_500, 5_000]), [Some(4_000), Some(4_500), None]);
    let rare = [(5, "3oslo 3engineer 2manager"), (7, "3oslo 3engineer"), (988, "3engineer 2manager")];
    let few = |persons| sample("eng osl man", persons, &rare).likely_by_keys(None);
    assert_eq!([MILLION, 3 * MILLION].map(few), [Some(5_000), None]);
    let rare = [(1, "3softball 3nurturing"), (99, "3software 3nurse")];
    assert_eq!(sample("nurturing", MILLION, &rare).likely_by_keys(Some(5_000)), None, "rare words lead to few");
}

#[test]
fn no_more_are_compared_than_it_takes() {
    let next = |passed, found| Sample::compared_next(passed, found, 1_000, 15_000);
    assert_eq!([next(0, 0), next(7_500, 750), next(7_500, 500), next(7_500, 0)], [7_500, 2_750, 7_500, 7_500]);
    assert_eq!([next(1_000, 999), next(7_500, 999), next(14_900, 999), next(15_000, 999)], [500, 1_875, 100, 0]);
}

#[test]
fn words_that_stand_together_are_common_together() {
    let apart = [(25, "2soft"), (25, "2eng"), (50, "2other")];
    let together = [(25, "2soft 2eng"), (75, "2other")];
    let share = |documents: &[(usize, &str)]| sample("soft eng", MILLION, documents).share_of_all(Weight::Good);
    assert_eq!((share(&apart), share(&together)), (0.0625, 0.25));
}

#[test]
fn words_of_a_filter_let_the_words_lead() {
    let within = |question| mixed(question).within(20_000);
    assert_eq!(within("common").side(spread(20_000), 1_000), Side::Words);
    assert_eq!(within("rare").side(spread(20_000), 1_000), Side::Words);
    assert_eq!(within("rare common").way(Weight::Other), Way::Rare(vec![0]));
}

#[test]
fn not_everybody_is_compared_for_want_of_a_better_way() {
    let documents = [(4, "2alpha"), (4, "2beta"), (1, "2alpha 2beta"), (91, "2other")];
    assert_eq!(sample("alpha beta", MILLION, &documents).side(spread(1_000_000), 1_000), Side::Words);
}
