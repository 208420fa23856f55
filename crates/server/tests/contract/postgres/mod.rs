//! What only PostgreSQL has: several servers, replicas, locks, outages and TLS.

mod distribution;
mod encryption;
mod locks;
mod outage;
mod replica;
mod servers;
