//! Persons who come in when the demo is started, with little known of them. They are to be
//! enriched, and the demo's own directory knows all of them but one: by the handle, an e-mail
//! address, an outside id, or the name and the company.

use slated_model::contact::{Channel, ContactType, Contacts};
use slated_model::name::PersonName;
use slated_model::person::{Association, NewPerson};
use slated_model::social::SocialProfile;

/// What is known of such a person. What is empty is not.
#[derive(Debug)]
pub(super) struct Lead {
    name: &'static str,
    handle: &'static str,
    title: &'static str,
    company: &'static str,
    location: &'static str,
    email: &'static str,
    source_id: &'static str,
}

const NOTHING: Lead =
    Lead { name: "", handle: "", title: "", company: "", location: "", email: "", source_id: "" };

/// Their companies are among those that the demo has anyway.
pub(super) static LEADS: [Lead; 12] = [
    Lead { name: "Mira Castellan", handle: "mira-castellan", ..NOTHING },
    Lead { handle: "nils-aasgaard", ..NOTHING },
    Lead { handle: "tamsin-fairweather", ..NOTHING },
    Lead {
        name: "Owen Hargreave",
        email: "owen.hargreave@copperline-logistics.example",
        ..NOTHING
    },
    Lead { name: "Yasmin Elbaz", email: "y.elbaz@silverbirch-pharma.example", ..NOTHING },
    Lead { name: "Idris Calloway", source_id: "fair-2026-0031", ..NOTHING },
    Lead { name: "Pilar Montalvo", company: "Torrent Valley Water", ..NOTHING },
    // The directory says otherwise of these three, and what is written here stays until somebody
    // decides.
    Lead {
        name: "Kenta Morioka",
        handle: "kenta-morioka",
        title: "Software Engineer",
        company: "Kumquat Labs",
        ..NOTHING
    },
    Lead { name: "R. Achterberg", handle: "rosalind-achterberg", ..NOTHING },
    Lead {
        name: "Leila Marchetti",
        handle: "leila-marchetti",
        location: "Milan, Italy",
        ..NOTHING
    },
    Lead {
        name: "Ewa Sobczak",
        handle: "ewa-sobczak",
        email: "ewa.sobczak@brightwell-devices.example",
        ..NOTHING
    },
    // Nobody knows her.
    Lead { name: "Josefine Tannhauer", email: "j.tannhauer@example.org", ..NOTHING },
];

impl Lead {
    pub(super) fn new_person(&self) -> NewPerson {
        let (name, social) = match (self.name, self.handle) {
            ("", handle) => (PersonName::stand_in(handle), profile_of(handle)),
            (name, "") => (named(name), SocialProfile::default()),
            (name, handle) => (named(name), profile_of(handle)),
        };
        let mut emails = Contacts::new(Channel::Email);
        if let Some(address) = given(self.email) {
            emails.add_typed(ContactType::Work, address);
        }
        NewPerson {
            name,
            social,
            current_job_title: self.title.to_owned(),
            company_name: given(self.company),
            social_location: self.location.to_owned(),
            external_source_id: given(self.source_id),
            emails,
            phones: Contacts::new(Channel::Phone),
            notes: None,
            association: Association::default(),
            enrich: true,
            dropped: Vec::new(),
        }
    }
}

fn named(whole: &str) -> PersonName {
    PersonName::complete(whole.to_owned(), String::new(), String::new())
}

fn profile_of(handle: &str) -> SocialProfile {
    SocialProfile { url: format!("https://social.example/in/{handle}"), handle: handle.to_owned() }
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
