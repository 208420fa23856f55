//! What is wrong with the filters of a list, where it takes a look at the records to know: every
//! one that names nothing is refused, not the first.

use slated_model::input::FieldErrors;
use slated_model::problem::{ErrorCode, Problem};
use slated_store::OperationError;

#[derive(Default)]
pub struct FilterErrors(FieldErrors);

impl FilterErrors {
    /// What a filter stands for; nothing if it is refused.
    pub fn note<T>(
        &mut self,
        outcome: Result<T, impl Into<OperationError>>,
    ) -> Result<Option<T>, OperationError> {
        match outcome.map_err(Into::into) {
            Ok(value) => Ok(Some(value)),
            Err(OperationError::Rejected(problem)) if problem.code == ErrorCode::InvalidRequest => {
                for detail in problem.details {
                    self.0.add(detail.field, detail.code, detail.message);
                }
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Takes what is wrong with one more thing.
    pub fn add(&mut self, problem: Problem) {
        for detail in problem.details {
            self.0.add(detail.field, detail.code, detail.message);
        }
    }

    pub fn check(self) -> Result<(), Problem> {
        self.0.check(())
    }
}
