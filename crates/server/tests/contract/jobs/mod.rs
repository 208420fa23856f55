//! Jobs, their stages and statuses, and the templates of pipelines.

mod records;
mod shapes;
mod stages;
mod statuses;
mod templates;
