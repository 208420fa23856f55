//! What narrows a list of persons, and how those whom it leaves are found: through the one filter
//! that leaves the fewest, which leads to their ids by an index, or where it leaves many by a look
//! at the next of all persons.

use slated_model::clock::Timestamp;
use slated_model::id::{self, CompanyId, JobId, PersonId, WorkspaceId};
use slated_model::listing::{Order, Page, Start, TimeFilter};
use slated_model::person::{Identifier, IdentifierKind};

use crate::error::StoreError;
use crate::records::job;
use crate::records::range_counts::{self, List};
use crate::records::search::documents::{Wanted, having};
use crate::records::search::found::{documents_between, documents_of};
use crate::records::statement::{FENCE, Values};
use crate::tx::Tx;

/// Whom a filter leaves is counted so far before a way is chosen; and so far if only that is to be
/// known whether they are many.
pub(super) const MAX_COUNTED: i64 = 100_000;
pub(super) const ENOUGH_COUNTED: i64 = MANY + 1;
/// A filter that leaves no more is as good a lead as any.
const FEW: i64 = 1000;
/// If a filter leaves more, a page of them is looked for among so many of all persons first.
const MANY: i64 = 10_000;
const NEXT: i64 = 5_000;
/// So many ids are gathered to see who is among them; with more it is sooner asked of each person.
const MAX_GATHERED: i64 = 50_000;

/// What narrows a list of persons.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PersonFilter {
    pub times: TimeFilter,
    /// Persons must have all of them.
    pub identifiers: Vec<Identifier>,
    /// On whatever network.
    pub handle: Option<String>,
    pub phone: Option<String>,
    pub company_id: Option<CompanyId>,
    pub job_id: Option<JobId>,
}

impl PersonFilter {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes the filter for a lead that leaves the fewest. If there is only one, it is counted up
    /// to that number.
    pub(super) async fn led(
        &self,
        tx: &mut Tx,
        workspace: WorkspaceId,
        most_counted: i64,
    ) -> Result<Led<'_>, StoreError> {
        let bounds = Bounds::of(&self.times);
        let mut leads: Vec<_> = self.identifiers.iter().map(Lead::Identifier).collect();
        leads.extend(self.handle.as_deref().map(Lead::handle));
        leads.extend(
            self.phone.as_deref().map(|number| Lead::Phone(Wanted::phone(tx, workspace, number))),
        );
        leads.extend(Some(Lead::Made).filter(|_| !bounds.are_open()));
        leads.extend(self.company_id.map(Lead::Company));
        leads.extend(self.job_id.map(Lead::Job));
        leads.extend(
            self.times
                .updated_after
                .or(self.times.updated_before)
                .map(|_| Lead::Updated(&self.times)),
        );
        let most_counted = if leads.len() > 1 { MAX_COUNTED } else { most_counted };
        let (mut best, mut size) = (0, Size::MoreThan(i64::MAX));
        for (place, lead) in leads.iter().enumerate() {
            let other = lead.count(tx, workspace, bounds, most_counted).await?;
            if other.at_least() < size.at_least() {
                (best, size) = (place, other);
            }
            if size.at_least() <= FEW {
                break;
            }
        }
        let lead = leads.remove(best);
        leads.retain(|lead| !matches!(lead, Lead::Made));
        Ok(Led { workspace, lead, others: leads, bounds, size })
    }
}

/// Between which ids the persons are, since those say when persons were made.
#[derive(Clone, Copy)]
struct Bounds {
    from: Option<PersonId>,
    until: Option<PersonId>,
}

impl Bounds {
    fn of(times: &TimeFilter) -> Self {
        let behind = |moment: Timestamp| {
            PersonId::at(Timestamp::from_millis(moment.millis().saturating_add(1)), 0)
        };
        Self {
            from: times.created_after.map(behind),
            until: times.created_before.map(|moment| PersonId::at(moment, 0)),
        }
    }

    const fn are_open(self) -> bool {
        self.from.is_none() && self.until.is_none()
    }

    /// Conditions on a column of ids.
    fn conditions(self, column: &str, values: &mut Values<'_>) -> Vec<String> {
        let from = self.from.map(|id| format!("{column} >= {}", values.place(id)));
        let until = self.until.map(|id| format!("{column} < {}", values.place(id)));
        from.into_iter().chain(until).collect()
    }
}

/// How many persons a filter leaves.
#[derive(Clone, Copy)]
enum Size {
    Exactly(i64),
    MoreThan(i64),
}

impl Size {
    const fn at_least(self) -> i64 {
        match self {
            Self::Exactly(size) | Self::MoreThan(size) => size,
        }
    }
}

/// A filter with an index that leads to those whom it leaves.
enum Lead<'f> {
    Identifier(&'f Identifier),
    /// Between which identities those with the handle are.
    Handle([String; 2]),
    Phone(Wanted),
    Company(CompanyId),
    Job(JobId),
    Updated(&'f TimeFilter),
    /// No other than the bounds, if there are any.
    Made,
}

impl Lead<'_> {
    /// Identities are the handle, a slash and the network, and 0 comes next to the slash.
    fn handle(handle: &str) -> Self {
        Self::Handle([format!("{handle}/"), format!("{handle}0")])
    }

    /// A select of the ids of those whom the filter leaves, in whatever order.
    fn select<'p>(&'p self, tx: &Tx, values: &mut Values<'p>) -> String {
        match self {
            Self::Identifier(identifier) => identified(identifier, values),
            Self::Handle(between) => with_handle(between, values),
            Self::Phone(wanted) => called(tx, wanted, values),
            Self::Company(company) => format!(
                "SELECT id FROM person WHERE workspace_id = ?1 AND company_id = {}",
                values.place(*company)
            ),
            Self::Job(job) => format!(
                "SELECT person_id AS id FROM candidate WHERE workspace_id = ?1 AND job_id = {}",
                values.place(*job)
            ),
            Self::Updated(times) => {
                format!(
                    "SELECT id FROM person WHERE workspace_id = ?1 AND {}",
                    updated("updated_at", times, values).join(" AND ")
                )
            }
            Self::Made => "SELECT id FROM person WHERE workspace_id = ?1".to_owned(),
        }
    }

    /// The same between bounds.
    fn ids<'p>(&'p self, tx: &Tx, bounds: Bounds, values: &mut Values<'p>) -> String {
        let select = self.select(tx, values);
        let conditions = bounds.conditions("id", values).join(" AND ");
        match self {
            Self::Made => format!("{select} AND {conditions}"),
            _ if conditions.is_empty() => format!("{select} {FENCE}"),
            _ => format!("SELECT id FROM ({select} {FENCE}) unbounded WHERE {conditions}"),
        }
    }

    /// Conditions on a person `p`, who is known, and whose id is in that column: no index is to
    /// lead to them.
    fn conditions<'p>(&'p self, tx: &Tx, id: &str, values: &mut Values<'p>) -> Vec<String> {
        match self {
            Self::Identifier(identifier) => {
                vec![format!("{id} IN ({})", identified(identifier, values))]
            }
            Self::Handle(between) => vec![format!("{id} IN ({})", with_handle(between, values))],
            Self::Phone(wanted) => vec![format!("{id} IN ({})", called(tx, wanted, values))],
            Self::Company(company) => {
                vec![format!("{} = {}", unindexed("p.company_id"), values.place(*company))]
            }
            Self::Job(job) => {
                let job = values.place(*job);
                let is_candidate = format!(
                    "SELECT TRUE FROM candidate c WHERE c.workspace_id = ?1 AND c.person_id = \
                     {id} AND c.job_id = {job}"
                );
                vec![format!("COALESCE(({is_candidate}), FALSE)")]
            }
            Self::Updated(times) => updated(&unindexed("p.updated_at"), times, values),
            Self::Made => Vec::new(),
        }
    }

    /// Whether its conditions are on more of a person than the id.
    const fn needs_person(&self) -> bool {
        matches!(self, Self::Company(_) | Self::Updated(_))
    }

    async fn count(
        &self,
        tx: &mut Tx,
        workspace: WorkspaceId,
        bounds: Bounds,
        most: i64,
    ) -> Result<Size, StoreError> {
        match self {
            Self::Made => {
                return range_counts::count_between(
                    tx,
                    workspace,
                    List::Persons,
                    bounds.from,
                    bounds.until,
                )
                .await
                .map(Size::Exactly);
            }
            Self::Job(job) if bounds.are_open() => {
                return Ok(Size::Exactly(
                    job::places(tx, workspace, *job).await?.map_or(0, job::Places::taken),
                ));
            }
            _ => {}
        }
        // Whoever is not between the bounds takes time too.
        let mut values = Values::new(workspace);
        let select = self.select(tx, &mut values);
        let (most_looked_at, within) =
            (values.place(most + 1), bounds.conditions("id", &mut values).join(" AND "));
        let within = if within.is_empty() {
            "COUNT(*)".to_owned()
        } else {
            format!("COUNT(CASE WHEN {within} THEN 1 END)")
        };
        let sql =
            format!("SELECT COUNT(*), {within} FROM ({select} LIMIT {most_looked_at}) counted");
        let (all, within) = tx
            .row(&sql, values.params(), |row| Ok((row.int(0)?, row.int(1)?)))
            .await?
            .unwrap_or_default();
        Ok(if all > most { Size::MoreThan(most) } else { Size::Exactly(within) })
    }
}

fn identified<'p>(Identifier { kind, key }: &'p Identifier, values: &mut Values<'p>) -> String {
    let (kind, key) = (*kind as i64, values.place(key));
    format!(
        "SELECT person_id AS id FROM person_identifier WHERE workspace_id = ?1 AND kind = {kind} \
         AND key = {key}"
    )
}

/// Of one person on two networks there are two identities.
fn with_handle<'p>([from, until]: &'p [String; 2], values: &mut Values<'p>) -> String {
    let (kind, from, until) =
        (IdentifierKind::SocialProfile as i64, values.place(from), values.place(until));
    format!(
        "SELECT DISTINCT person_id AS id FROM person_identifier WHERE workspace_id = ?1 AND kind \
         = {kind} AND key >= {from} AND key < {until}"
    )
}

fn called<'p>(tx: &Tx, wanted: &'p Wanted, values: &mut Values<'p>) -> String {
    having(tx, "d.person_id AS id", wanted, values)
}

fn updated(column: &str, times: &TimeFilter, values: &mut Values<'_>) -> Vec<String> {
    let after = times.updated_after.map(|moment| format!("{column} > {}", values.place(moment)));
    let before = times.updated_before.map(|moment| format!("{column} < {}", values.place(moment)));
    after.into_iter().chain(before).collect()
}

/// The column, as no index has it.
fn unindexed(column: &str) -> String {
    format!("COALESCE({column}, {column})")
}

fn where_all(conditions: &[String]) -> String {
    if conditions.is_empty() {
        String::new()
    } else {
        format!("WHERE {}", conditions.join(" AND "))
    }
}

/// A filter that leads, and the others, which are asked of whom it leads to.
pub(super) struct Led<'f> {
    workspace: WorkspaceId,
    lead: Lead<'f>,
    others: Vec<Lead<'f>>,
    bounds: Bounds,
    size: Size,
}

impl Led<'_> {
    /// To how many it leads; they may be more if they are very many.
    pub(super) fn left(&self) -> usize {
        usize::try_from(self.size.at_least()).unwrap_or(0)
    }

    /// Whether it is known to how many it leads.
    pub(super) const fn is_counted(&self) -> bool {
        matches!(self.size, Size::Exactly(_))
    }

    /// Whether all whom the filters leave lie side by side, in the order of their ids.
    pub(super) const fn are_neighbours(&self) -> bool {
        matches!(self.lead, Lead::Made) && self.others.is_empty()
    }

    /// Whether there is more to be asked of somebody than when they were made, and who employs them
    /// if that is not known.
    pub(super) fn is_asked_of_each(&self, is_company_known: bool) -> bool {
        let is_known = |lead: &Lead<'_>| {
            matches!(lead, Lead::Made) || is_company_known && matches!(lead, Lead::Company(_))
        };
        !std::iter::once(&self.lead).chain(&self.others).all(is_known)
    }

    /// Between which ids all are whom the filters leave: from the first on, and before the other.
    pub(super) const fn bounds(&self) -> (Option<PersonId>, Option<PersonId>) {
        (self.bounds.from, self.bounds.until)
    }

    /// Those as `p` whom all filters leave, with this condition too. Only their ids are there.
    fn all<'p>(&'p self, tx: &Tx, condition: Option<String>, values: &mut Values<'p>) -> String {
        let ids = self.lead.ids(tx, self.bounds, values);
        let mut conditions: Vec<_> = condition.into_iter().collect();
        let from = match self.others.iter().any(Lead::needs_person) {
            true => {
                conditions.extend(["p.workspace_id = ?1", "p.id = led.id"].map(str::to_owned));
                format!("FROM ({ids}) led CROSS JOIN person p")
            }
            false => format!("FROM ({ids}) p"),
        };
        conditions
            .extend(self.others.iter().flat_map(|other| other.conditions(tx, "p.id", values)));
        format!("{from} {}", where_all(&conditions))
    }

    /// What is indexed of all whom the filters leave, as `found`.
    pub(super) fn documents<'p>(&'p self, tx: &Tx, values: &mut Values<'p>) -> String {
        if self.are_neighbours() {
            return documents_between(&self.bounds.conditions("person_id", values));
        }
        let all = self.all(tx, None, values);
        documents_of(tx, &format!("SELECT p.id FROM (SELECT p.id {all}) p ORDER BY p.id {FENCE}"))
    }

    pub(super) async fn total(&self, tx: &mut Tx) -> Result<i64, StoreError> {
        if let (Size::Exactly(size), true) = (self.size, self.others.is_empty()) {
            return Ok(size);
        }
        let mut values = Values::new(self.workspace);
        let sql = format!("SELECT COUNT(*) {}", self.all(tx, None, &mut values));
        Ok(tx.row(&sql, values.params(), |row| row.int(0)).await?.unwrap_or(0))
    }

    /// Asks of persons `found`, whose column `person_id` is known, whether all filters leave them:
    /// a join and conditions. If those are many, it is sooner done to gather first whom a filter
    /// leaves.
    pub(super) fn leaves<'p>(
        &'p self,
        tx: &Tx,
        are_many: bool,
        values: &mut Values<'p>,
    ) -> (&'static str, Vec<String>) {
        let mut conditions = self.bounds.conditions("found.person_id", values);
        let mut asked: Vec<_> = self.others.iter().collect();
        // PostgreSQL would compare each with each, if it takes them for few.
        let is_gathered = tx.is_embedded()
            && are_many
            && !matches!(self.lead, Lead::Made)
            && self.size.at_least() <= MAX_GATHERED;
        match is_gathered {
            true => conditions
                .push(format!("found.person_id IN ({})", self.lead.ids(tx, self.bounds, values))),
            false => asked.push(&self.lead),
        }
        conditions
            .extend(asked.iter().flat_map(|lead| lead.conditions(tx, "found.person_id", values)));
        match asked.iter().any(|lead| lead.needs_person()) {
            true => {
                conditions
                    .extend(["p.workspace_id = ?1", "p.id = found.person_id"].map(str::to_owned));
                ("CROSS JOIN person p", conditions)
            }
            false => ("", conditions),
        }
    }

    /// The ids of a page of those whom all filters leave, and of one more behind a cursor.
    pub(super) async fn page(
        &self,
        tx: &mut Tx,
        page: &Page<id::Person>,
    ) -> Result<Vec<PersonId>, StoreError> {
        let (sign, order) = match page.order {
            Order::OldestFirst => (">", "ORDER BY p.id"),
            Order::NewestFirst => ("<", "ORDER BY p.id DESC"),
        };
        let (last, limit, offset) = match page.start {
            Start::Offset(offset) => (None, page.limit, offset),
            Start::Cursor(cursor) => (cursor.map(|cursor| cursor.last), page.limit + 1, 0),
        };
        let behind = |values: &mut Values<'_>| {
            last.map(|last| format!("p.id {sign} {}", values.place(last)))
        };
        let tail = |values: &mut Values<'_>| {
            format!("{order} LIMIT {} OFFSET {}", values.place(limit), values.place(offset))
        };
        // Where many are left, the next of all persons are likely to hold a page of them.
        if self.size.at_least() > MANY {
            let mut values = Values::new(self.workspace);
            let mut among = vec!["p.workspace_id = ?1".to_owned()];
            among.extend(self.bounds.conditions("p.id", &mut values));
            among.extend(behind(&mut values));
            let next = format!(
                "SELECT p.id, p.company_id, p.updated_at FROM person p {} {order} LIMIT {NEXT}",
                where_all(&among)
            );
            let leads = std::iter::once(&self.lead).chain(&self.others);
            let conditions: Vec<_> =
                leads.flat_map(|lead| lead.conditions(tx, "p.id", &mut values)).collect();
            let sql = format!(
                "SELECT p.id FROM ({next}) p {} {}",
                where_all(&conditions),
                tail(&mut values)
            );
            let found = tx.rows(&sql, values.params(), |row| row.id(0)).await?;
            if i64::try_from(found.len()).is_ok_and(|found| found == limit) {
                return Ok(found);
            }
        }
        let mut values = Values::new(self.workspace);
        let behind = behind(&mut values);
        let all = self.all(tx, behind, &mut values);
        let sql = format!("SELECT p.id {all} {}", tail(&mut values));
        tx.rows(&sql, values.params(), |row| row.id(0)).await
    }
}
