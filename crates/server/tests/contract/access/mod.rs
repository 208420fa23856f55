//! Who may do what: keys, scopes and the wall between workspaces.

mod auth;
mod key_api;
mod key_command;
mod me;
mod tenants;
