//! Both engines have the same tables, columns, keys and indexes, and the workspace leads every one
//! of them but for one that belongs to the operator. Only PostgreSQL has an outbox, where events
//! wait for their number, and rows to hold while they get it; and each has an index of words in its
//! own way, in which every word begins with its workspace.

use crate::support::{Database, Engine, apply, each_engine};

/// What a column may hold as SQLite sees it, which tells less apart.
const COLUMNS: [&str; 2] = [
    "SELECT t.name || '.' || c.name || ' ' || c.type || CASE c.\"notnull\" WHEN 1 THEN ' NOT \
     NULL' ELSE '' END \
     FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE \
     'sqlite_%' AND t.name <> 'schema_migration' AND t.name NOT LIKE 'search\\_word%' ESCAPE '\\' \
     AND t.name NOT IN ('search_document', 'search_merge') ORDER BY 1",
    "SELECT table_name || '.' || column_name || ' ' || CASE data_type WHEN 'bigint' THEN \
     'INTEGER' WHEN 'boolean' THEN 'INTEGER' \
     WHEN 'timestamp with time zone' THEN 'INTEGER' WHEN 'text' THEN 'TEXT' WHEN 'jsonb' THEN \
     'TEXT' WHEN 'uuid' THEN 'BLOB' WHEN 'bytea' THEN 'BLOB' \
     ELSE data_type END || CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END \
     FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN \
     ('schema_migration', 'event_outbox', 'event_numbering', 'search_document') ORDER BY 1",
];

/// Primary keys, unique constraints and indexes, with their columns in order.
const INDEXES: [&str; 2] = [
    "SELECT t.name || CASE i.origin WHEN 'c' THEN ' index ' || i.name ELSE ' unique' END || ' (' \
     || \
     (SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY \
     seqno)) || ')' \
     FROM sqlite_schema t, pragma_index_list(t.name) i WHERE t.type = 'table' AND t.name NOT LIKE \
     'sqlite_%' AND t.name <> 'schema_migration' AND t.name NOT LIKE 'search\\_word%' ESCAPE '\\' \
     AND t.name NOT IN ('search_document', 'search_merge') \
     UNION ALL SELECT 'workspace unique (workspace_id)' FROM pragma_table_info('workspace') WHERE \
     name = 'workspace_id' AND pk = 1 ORDER BY 1",
    "SELECT t.relname || CASE WHEN k.oid IS NULL THEN ' index ' || c.relname ELSE ' unique' END \
     || ' (' || \
     (SELECT string_agg(a.attname, ', ' ORDER BY p.place) FROM unnest(i.indkey::int2[]) WITH \
     ORDINALITY p (number, place) \
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = p.number) || ')' \
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = \
     i.indrelid LEFT JOIN pg_constraint k ON k.conindid = c.oid \
     AND k.contype IN ('p', 'u') WHERE t.relnamespace = 'public'::regnamespace AND t.relname NOT \
     IN ('schema_migration', 'event_outbox', 'event_numbering', 'search_document') ORDER BY 1",
];

const FOREIGN_KEYS: [&str; 2] = [
    "SELECT t.name || ' (' || (SELECT group_concat(c, ', ') FROM (SELECT \"from\" AS c FROM \
     pragma_foreign_key_list(t.name) WHERE id = k.id ORDER BY seq)) \
     || ') to ' || k.\"table\" || ' (' || (SELECT group_concat(c, ', ') FROM (SELECT \"to\" AS c \
     FROM pragma_foreign_key_list(t.name) WHERE id = k.id ORDER BY seq)) || ')' \
     FROM sqlite_schema t, pragma_foreign_key_list(t.name) k WHERE t.type = 'table' AND k.seq = 0 \
     ORDER BY 1",
    "SELECT conrelid::regclass || ' (' || (SELECT string_agg(a.attname, ', ' ORDER BY p.place) \
     FROM unnest(conkey) WITH ORDINALITY p (number, place) \
     JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = p.number) || ') to ' || \
     confrelid::regclass || ' (' || \
     (SELECT string_agg(a.attname, ', ' ORDER BY p.place) FROM unnest(confkey) WITH ORDINALITY p \
     (number, place) \
     JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = p.number) || ')' FROM \
     pg_constraint WHERE contype = 'f' ORDER BY 1",
];

/// The operator limits how often providers of enrichment are asked, for all workspaces together:
/// what is kept of it belongs to no tenant.
const OF_THE_OPERATOR: &str = "enrichment_permit";

fn empty(engine: Engine) -> Database {
    let database = Database::new(engine);
    database.create_key("main", "read", &[]);
    database
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[test]
fn both_engines_have_the_same_schema() {
    let (sqlite, postgres) = (empty(Engine::Sqlite), empty(Engine::Postgres));
    for (what, [on_sqlite, on_postgres], at_least) in
        [("columns", COLUMNS, 90), ("indexes", INDEXES, 18), ("foreign keys", FOREIGN_KEYS, 18)]
    {
        let kept = sorted(sqlite.execute(on_sqlite));
        assert!(kept.len() >= at_least, "only {} {what}: {kept:#?}", kept.len());
        similar(what, &kept, &sorted(postgres.execute(on_postgres)));
    }
}

fn similar(what: &str, sqlite: &[String], postgres: &[String]) {
    let only = |these: &[String], those: &[String]| {
        these.iter().filter(|line| !those.contains(line)).cloned().collect::<Vec<_>>()
    };
    let (on_sqlite, on_postgres) = (only(sqlite, postgres), only(postgres, sqlite));
    assert!(
        on_sqlite.is_empty() && on_postgres.is_empty(),
        "{what} only on SQLite: {on_sqlite:#?}, only on PostgreSQL: {on_postgres:#?}"
    );
    assert_eq!(sqlite.len(), postgres.len(), "{what}");
}

/// Nothing was released yet, so no schema is there that a step would have to bring up to date.
#[apply(each_engine)]
fn a_new_database_takes_one_step(engine: &Engine) {
    assert_eq!(empty(*engine).execute("SELECT MAX(version) FROM schema_migration"), ["1"]);
}

/// Invariant 9.
#[test]
fn the_workspace_leads_every_key() {
    let postgres = empty(Engine::Postgres);
    let lines = [postgres.execute(INDEXES[1]), postgres.execute(FOREIGN_KEYS[1])].concat();
    for line in lines.iter().filter(|line| !line.starts_with(OF_THE_OPERATOR)) {
        assert!(line.matches('(').count() == line.matches("(workspace_id").count(), "{line}");
    }
    let tables = postgres.execute(&format!(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' \
         AND table_name NOT IN ('schema_migration', '{OF_THE_OPERATOR}')"
    ));
    let led = postgres.execute(
        "SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'public' \
         AND column_name = 'workspace_id'",
    );
    assert_eq!(sorted(tables), sorted(led));
}

#[test]
fn columns_have_the_types_that_administrators_expect() {
    let postgres = empty(Engine::Postgres);
    let type_of = |table: &str, column: &str| {
        let sql = format!(
            "SELECT data_type FROM information_schema.columns WHERE table_name = '{table}' AND \
             column_name = '{column}'"
        );
        postgres.execute(&sql).concat()
    };
    assert_eq!(type_of("person", "created_at"), "timestamp with time zone");
    assert_eq!(type_of("person", "emails"), "jsonb");
    assert_eq!(type_of("person", "work_experience"), "jsonb");
    assert_eq!(type_of("person", "id"), "uuid");
    assert_eq!(type_of("job", "is_archived"), "boolean");
    assert_eq!(type_of("api_key", "hash"), "bytea");
}

#[test]
fn a_database_that_cannot_be_spread_is_left_as_it_is() {
    let database = Database::new(Engine::Postgres);
    let output = database.run(&["migrate", "--distribute"]);
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(
        database
            .execute("SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"),
        ["0"]
    );
}
