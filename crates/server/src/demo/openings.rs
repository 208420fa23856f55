//! The jobs of the demo and the clients that they are for.

use slated_model::stage::{NewStage, default_pipeline};

use super::tracks::{
    DATA, DESIGN, FINANCE, MARKETING, MECHANICAL, NURSING, OPERATIONS, PEOPLE, PRODUCT, SALES,
    SECURITY, SOFTWARE, Track,
};

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Open,
    OnHold,
    Filled,
    Closed,
}

impl Fate {
    /// The status that says so.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::OnHold => "On hold",
            Self::Filled => "Filled",
            Self::Closed => "Closed",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pipeline {
    Default,
    Clinical,
    Executive,
}

impl Pipeline {
    /// The stages that the job is opened with; none for the default.
    pub fn own_stages(self) -> Option<Vec<NewStage>> {
        let stages: &[(&str, Kind)] = match self {
            Self::Default => return None,
            Self::Clinical => &[
                ("Applied", Kind::Plain),
                ("Licence check", Kind::Plain),
                ("Ward interview", Kind::Interviewing),
                ("Trial shift", Kind::Interviewing),
                ("Offer", Kind::Plain),
                ("Started", Kind::Plain),
                ("Not qualified", Kind::Rejection),
                ("Withdrew", Kind::Rejection),
            ],
            Self::Executive => &[
                ("Long list", Kind::Plain),
                ("Approached", Kind::Plain),
                ("Partner meeting", Kind::Interviewing),
                ("Client interview", Kind::Interviewing),
                ("References", Kind::Plain),
                ("Offer", Kind::Plain),
                ("Signed", Kind::Plain),
                ("Not selected", Kind::Rejection),
                ("Withdrew", Kind::Rejection),
            ],
        };
        Some(stages.iter().map(|(name, kind)| kind.stage(name)).collect())
    }

    /// The stages that the job has in the end.
    pub fn stages(self) -> Vec<NewStage> {
        self.own_stages().unwrap_or_else(default_pipeline)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Interviewing,
    Rejection,
}

impl Kind {
    fn stage(self, name: &str) -> NewStage {
        NewStage {
            name: name.to_owned(),
            is_rejection_stage: self == Self::Rejection,
            is_interviewing_stage: self == Self::Interviewing,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Opening {
    pub name: &'static str,
    pub client: &'static str,
    pub track: &'static Track,
    pub days_ago: i64,
    pub fate: Fate,
    pub is_archived: bool,
    pub pipeline: Pipeline,
    /// How many persons come into the database for this job.
    pub persons: usize,
}

const fn opening(
    name: &'static str,
    client: &'static str,
    track: &'static Track,
    days_ago: i64,
    fate: Fate,
    persons: usize,
) -> Opening {
    Opening {
        name,
        client,
        track,
        days_ago,
        fate,
        is_archived: false,
        pipeline: Pipeline::Default,
        persons,
    }
}

const fn archived(opening: Opening) -> Opening {
    Opening { is_archived: true, ..opening }
}

const fn with(pipeline: Pipeline, opening: Opening) -> Opening {
    Opening { pipeline, ..opening }
}

/// The oldest first.
pub static OPENINGS: [Opening; 20] = [
    archived(opening(
        "Senior Backend Engineer",
        "Arclight Systems",
        &SOFTWARE,
        535,
        Fate::Filled,
        34,
    )),
    archived(with(
        Pipeline::Clinical,
        opening(
            "Staff Nurse, Intensive Care",
            "Calder Valley Health",
            &NURSING,
            512,
            Fate::Closed,
            20,
        ),
    )),
    opening("Data Scientist", "Indigo Street Bank", &DATA, 486, Fate::Filled, 30),
    opening(
        "Account Executive, Central Europe",
        "Dovetail Commerce",
        &SALES,
        455,
        Fate::Filled,
        22,
    ),
    opening(
        "Mechanical Engineer, Landing Gear",
        "Kingfisher Aerospace",
        &MECHANICAL,
        430,
        Fate::Open,
        26,
    ),
    opening("Product Manager, Payments", "Indigo Street Bank", &PRODUCT, 402, Fate::Closed, 18),
    opening("Financial Controller", "Granite Peak Insurance", &FINANCE, 371, Fate::Filled, 16),
    with(
        Pipeline::Clinical,
        opening("Clinical Nurse Manager", "Calder Valley Health", &NURSING, 344, Fate::OnHold, 14),
    ),
    opening("Supply Chain Manager", "Fennel & Rye", &OPERATIONS, 318, Fate::Open, 24),
    opening("Senior Product Designer", "Jacaranda Mobility", &DESIGN, 290, Fate::Filled, 22),
    opening("Security Engineer", "Indigo Street Bank", &SECURITY, 262, Fate::Open, 24),
    opening("Machine Learning Engineer", "Helix Grove Therapeutics", &DATA, 231, Fate::Open, 30),
    opening("Regional Sales Manager", "Everspring Energy", &SALES, 204, Fate::OnHold, 16),
    opening("HR Business Partner", "Lodestar Education", &PEOPLE, 176, Fate::Filled, 16),
    opening("Platform Engineer", "Arclight Systems", &SOFTWARE, 149, Fate::Open, 36),
    opening("Brand Manager", "Fennel & Rye", &MARKETING, 121, Fate::Open, 22),
    opening("Marine Systems Engineer", "Brevik Maritime", &MECHANICAL, 96, Fate::Open, 20),
    opening("Engineering Manager", "Jacaranda Mobility", &SOFTWARE, 70, Fate::Open, 24),
    with(
        Pipeline::Executive,
        opening("Finance Director", "Everspring Energy", &FINANCE, 43, Fate::Open, 14),
    ),
    opening("Frontend Engineer", "Dovetail Commerce", &SOFTWARE, 21, Fate::Open, 28),
];

/// Persons who are in the database for the client whose contact they are.
pub static CONTACTS: [(&str, &str); 14] = [
    ("Arclight Systems", "Chief Technology Officer"),
    ("Arclight Systems", "Talent Partner"),
    ("Brevik Maritime", "Technical Director"),
    ("Calder Valley Health", "Director of Nursing"),
    ("Dovetail Commerce", "VP Engineering"),
    ("Everspring Energy", "Chief Executive Officer"),
    ("Fennel & Rye", "Head of Operations"),
    ("Granite Peak Insurance", "Chief Financial Officer"),
    ("Helix Grove Therapeutics", "Head of Research Computing"),
    ("Indigo Street Bank", "Head of Talent Acquisition"),
    ("Indigo Street Bank", "Chief Information Security Officer"),
    ("Jacaranda Mobility", "Head of People"),
    ("Kingfisher Aerospace", "Hiring Manager, Structures"),
    ("Lodestar Education", "Chief Operating Officer"),
];

/// Persons in the database who are on no job, beside the leads.
pub const OTHERS: usize = 18;
