use std::env;

use tokio::runtime::Builder;
use tokio_postgres::NoTls;

/// The server that the tests make their databases on.
fn server() -> String {
    env::var("TEST_POSTGRES").unwrap_or_else(|_| {
        panic!(
            "TEST_POSTGRES is not set: run the tests with scripts/test, or start a server with scripts/postgres start DIRECTORY and put \
             the URL that it prints into TEST_POSTGRES"
        )
    })
}

/// The URL of the database of that name.
pub fn url(name: &str) -> String {
    let server = server();
    let (base, _) = server.rsplit_once('/').expect("a URL with a database");
    format!("{base}/{name}")
}

pub fn create_database(name: &str) {
    execute(&server(), &format!("CREATE DATABASE {name}"));
}

pub fn drop_database(name: &str) {
    execute(&server(), &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
}

/// Runs statements; gives back the first column of each row, as text.
pub fn execute(url: &str, sql: &str) -> Vec<String> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let driver = tokio::spawn(connection);
        let answer = client.simple_query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        drop(client);
        driver.await.unwrap().unwrap();
        answer
            .iter()
            .filter_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            })
            .collect()
    })
}
