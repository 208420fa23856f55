pub mod list;
pub mod stream;
pub mod timeline;
