//! A value that a provider has for a field in which a caller wrote another: it waits for somebody
//! to decide.

named! {
    ProposalState {
        Open "open"
        Accepted "accepted"
        Rejected "rejected"
        /// A newer one took its place before it was decided.
        Superseded "superseded"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_back() {
        for state in ProposalState::ALL {
            assert_eq!(ProposalState::parse(state.name()), Some(*state));
        }
        assert_eq!(ProposalState::parse("closed"), None);
    }
}
