//! What persons do: twelve lines of work with their titles, duties, degrees and certificates, and
//! the invented companies at which they do it.

/// A line of work. The lists are written as `one|other|third`.
#[derive(PartialEq, Eq, Debug)]
pub struct Track {
    /// From the first job to the highest.
    pub titles: &'static str,
    pub duties: &'static [&'static str],
    pub degrees: &'static str,
    /// Each with its issuer.
    pub certificates: &'static [(&'static str, &'static str)],
}

/// How many titles each line of work has.
pub const TITLES: usize = 5;

pub static SOFTWARE: Track = Track {
    titles: "Junior Software Engineer|Software Engineer|Senior Software Engineer|Staff Software \
        Engineer|Head of Engineering",
    duties: &[
        "Built and ran the order service, from the first sketch to 40 million requests a day.",
        "Moved the billing system off a shared database without a minute of downtime.",
        "Cut the build from 25 to 6 minutes and made releases a daily habit.",
        "Led a team of six and mentored two engineers into senior roles.",
    ],
    degrees: "BSc Computer Science|MSc Software Engineering|BEng Informatics",
    certificates: &[
        ("Certified Cloud Developer", "Open Cloud Guild"),
        ("Distributed Systems Practitioner", "Institute for Reliable Systems"),
    ],
};

pub static DATA: Track = Track {
    titles: "Data Analyst|Data Scientist|Senior Data Scientist|Lead Machine Learning \
        Engineer|Director of Data",
    duties: &[
        "Forecast demand for 12,000 products and halved the stock that went to waste.",
        "Designed the experiments behind every change of the pricing page.",
        "Took a fraud model from notebook to production, answering within 20 ms.",
        "Set up the feature store that five teams share today.",
    ],
    degrees: "BSc Mathematics|MSc Statistics|PhD Computational Science",
    certificates: &[
        ("Applied Machine Learning Certificate", "Society for Data Practice"),
        ("Certified Data Steward", "Data Trust Board"),
    ],
};

pub static PRODUCT: Track = Track {
    titles: "Associate Product Manager|Product Manager|Senior Product Manager|Group Product \
        Manager|Chief Product Officer",
    duties: &[
        "Owned the checkout and raised completed orders by 14 percent in a year.",
        "Interviewed over a hundred customers and retired three features that nobody used.",
        "Brought the mobile app from pilot to four markets.",
        "Wrote the roadmap with sales, support and two engineering teams.",
    ],
    degrees: "BA Economics|MBA|BSc Industrial Engineering",
    certificates: &[
        ("Certified Product Owner", "Product Craft Alliance"),
        ("Pricing Strategy Certificate", "Product Craft Alliance"),
    ],
};

pub static DESIGN: Track = Track {
    titles: "Junior UX Designer|Product Designer|Senior Product Designer|Design Lead|Head of \
        Design",
    duties: &[
        "Redesigned the booking flow with weekly usability tests.",
        "Built the design system and its documentation for web and mobile.",
        "Ran the accessibility audit and fixed what it found.",
        "Hired and led four designers across two time zones.",
    ],
    degrees: "BA Interaction Design|MA Visual Communication|BFA Graphic Design",
    certificates: &[
        ("Accessibility Specialist", "Guild of Inclusive Design"),
        ("Service Design Certificate", "Guild of Inclusive Design"),
    ],
};

pub static SALES: Track = Track {
    titles: "Sales Development Representative|Account Executive|Senior Account Executive|Regional \
        Sales Manager|VP Sales",
    duties: &[
        "Closed 1.8 million in new business against a target of 1.2 million.",
        "Opened the region and won its first thirty customers.",
        "Rebuilt the partner programme and doubled the pipeline that it brings.",
        "Coached eight representatives, six of whom made their number.",
    ],
    degrees: "BA Business Administration|BA Communications|BSc Marketing",
    certificates: &[
        ("Consultative Selling Certificate", "Sales Leadership Forum"),
        ("Negotiation Professional", "Sales Leadership Forum"),
    ],
};

pub static MARKETING: Track = Track {
    titles: "Marketing Coordinator|Marketing Specialist|Brand Manager|Senior Marketing \
        Manager|Chief Marketing Officer",
    duties: &[
        "Launched the brand in two countries on time and under budget.",
        "Managed a yearly media budget of 3 million across nine channels.",
        "Grew the newsletter from 8,000 to 120,000 readers.",
        "Planned the trade fairs and the campaigns around them.",
    ],
    degrees: "BA Marketing|MA Media Studies|BA Journalism",
    certificates: &[
        ("Digital Campaign Professional", "Marketing Standards Institute"),
        ("Brand Strategy Certificate", "Marketing Standards Institute"),
    ],
};

pub static FINANCE: Track = Track {
    titles: "Financial Analyst|Senior Financial Analyst|Finance Manager|Financial \
        Controller|Finance Director",
    duties: &[
        "Shortened the monthly closing from eleven days to four.",
        "Prepared the group accounts of fourteen companies in six currencies.",
        "Built the planning model that the board decides with.",
        "Led the audit, the first in five years without a finding.",
    ],
    degrees: "BSc Accounting|MSc Finance|BA Economics",
    certificates: &[
        ("Registered Management Accountant", "Chamber of Management Accountants"),
        ("Group Reporting Diploma", "Chamber of Management Accountants"),
    ],
};

pub static PEOPLE: Track = Track {
    titles: "HR Coordinator|Recruiter|HR Business Partner|Senior HR Business Partner|Head of \
        People",
    duties: &[
        "Filled 85 positions in a year at half the agency cost of the year before.",
        "Introduced pay bands and explained them to 600 colleagues.",
        "Partnered with three directors through a merger of two sites.",
        "Set up the graduate programme with four universities.",
    ],
    degrees: "BA Psychology|MSc Organisational Behaviour|BA Human Resource Management",
    certificates: &[
        ("Certified People Professional", "People Practice Council"),
        ("Employment Law Certificate", "People Practice Council"),
    ],
};

pub static OPERATIONS: Track = Track {
    titles: "Logistics Coordinator|Supply Chain Analyst|Supply Chain Manager|Senior Operations \
        Manager|Director of Operations",
    duties: &[
        "Ran three warehouses with 140 people over two shifts.",
        "Renegotiated the freight contracts and saved 9 percent.",
        "Brought deliveries on time from 88 to 97 percent.",
        "Planned the move to the new distribution centre without a lost day.",
    ],
    degrees: "BSc Logistics|MSc Supply Chain Management|BEng Industrial Engineering",
    certificates: &[
        ("Lean Operations Black Belt", "Continuous Improvement Society"),
        ("Certified Supply Planner", "Continuous Improvement Society"),
    ],
};

pub static NURSING: Track = Track {
    titles: "Staff Nurse|Senior Staff Nurse|Charge Nurse|Clinical Nurse Manager|Director of \
        Nursing",
    duties: &[
        "Cared for patients on a 22-bed intensive care ward.",
        "Led the night shift and trained the newly qualified nurses.",
        "Brought falls on the ward down by a third within a year.",
        "Planned the rota of sixty nurses and the budget of two wards.",
    ],
    degrees: "BSc Nursing|MSc Advanced Clinical Practice|Diploma in Nursing",
    certificates: &[
        ("Advanced Life Support", "Resuscitation Training Council"),
        ("Critical Care Certificate", "College of Clinical Nursing"),
    ],
};

pub static MECHANICAL: Track = Track {
    titles: "Graduate Mechanical Engineer|Mechanical Engineer|Senior Mechanical \
        Engineer|Principal Engineer|Engineering Manager",
    duties: &[
        "Designed the hydraulic actuators and brought them through certification.",
        "Took 4 kg out of the assembly without losing stiffness.",
        "Ran the fatigue tests and wrote the reports for the authority.",
        "Led the team of nine behind the new gearbox.",
    ],
    degrees: "BEng Mechanical Engineering|MSc Aerospace Engineering|MSc Naval Architecture",
    certificates: &[
        ("Chartered Design Engineer", "Union of Mechanical Engineers"),
        ("Finite Element Analyst", "Union of Mechanical Engineers"),
    ],
};

pub static SECURITY: Track = Track {
    titles: "Security Analyst|Security Engineer|Senior Security Engineer|Security Architect|Chief \
        Information Security Officer",
    duties: &[
        "Watched over 9,000 machines and led the response to two serious incidents.",
        "Brought single sign-on and hardware keys to every team.",
        "Reviewed the design of each new service before its launch.",
        "Took the company through its first security certification.",
    ],
    degrees: "BSc Information Security|MSc Cryptography|BEng Computer Engineering",
    certificates: &[
        ("Certified Incident Responder", "Digital Defence Council"),
        ("Security Architecture Professional", "Digital Defence Council"),
    ],
};

pub static TRACKS: [&Track; 12] = [
    &SOFTWARE,
    &DATA,
    &PRODUCT,
    &DESIGN,
    &SALES,
    &MARKETING,
    &FINANCE,
    &PEOPLE,
    &OPERATIONS,
    &NURSING,
    &MECHANICAL,
    &SECURITY,
];

pub static EMPLOYERS: [&str; 48] = [
    "Halvorsen Marine",
    "Bluefern Analytics",
    "Quillstone Software",
    "Tamarind Health",
    "Osprey & Vale",
    "Kestrel Robotics",
    "Lumen Orchard",
    "Nordlys Energi",
    "Copperline Logistics",
    "Saltmarsh Foods",
    "Vantage Loom",
    "Ironbark Mining Services",
    "Pinecrest Biologics",
    "Redwater Capital",
    "Sablefin Games",
    "Meridian Tramways",
    "Aldergate Insurance",
    "Cobalt Finch",
    "Greyhaven Hospital Trust",
    "Tidewater Textiles",
    "Marigold Retail Group",
    "Zephyr Turbines",
    "Opaline Cosmetics",
    "Baobab Telecom",
    "Kumquat Labs",
    "Elmcross Savings Bank",
    "Torrent Valley Water",
    "Fjordline Shipyards",
    "Sundial Learning",
    "Echo Basin Media",
    "Harrow & Pike Legal",
    "Glasshouse Controls",
    "Larkspur Travel",
    "Monsoon Mobility",
    "Atlas Grain Cooperative",
    "Silverbirch Pharma",
    "Hollowtree Studios",
    "Brightwell Devices",
    "Canyon Peak Outfitters",
    "Orchid Semiconductors",
    "Plumeria Airways",
    "Stonebridge Advisory",
    "Tern Island Fisheries",
    "Umber Architecture",
    "Violet Harbour Payments",
    "Windrose Maps",
    "Yarrow Agritech",
    "Cinder Forge Steel",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_work_has_its_titles() {
        for track in TRACKS {
            assert_eq!(track.titles.split('|').count(), TITLES, "{}", track.titles);
        }
    }
}
