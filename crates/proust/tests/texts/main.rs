//! The project's own texts: links that lead somewhere, lines that fit, files that can be read in one go.

mod files;
mod lengths;
mod links;
mod stories;
