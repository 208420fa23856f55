//! PostgreSQL: many connections, any number of servers like this one beside us.

pub mod address;
pub mod array_statement;
pub mod connect;
pub mod constraints;
pub mod error;
pub mod merged_inserts;
pub mod pipeline;
pub mod pool;
pub mod read_batcher;
pub mod tls;
pub mod transaction;
pub mod value;
pub mod write_slots;
