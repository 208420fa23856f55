//! Events: the log of changes, its feed, its stream and its proof.

mod audit;
mod changes;
mod feed;
mod mirror;
mod stream;
mod timeline;
