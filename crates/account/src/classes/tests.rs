//! The table on call paths of real programs, and laws of the search and of the form.

mod laws;
mod paths;
mod rules;
mod services;
