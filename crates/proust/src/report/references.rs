//! Runs on one processor, to compare forecasts with.

use std::path::Path;

use anyhow::Result;
use proust_report::{Reference, References};

use crate::{progress, runs};

/// Opens those that are given.
///
/// # Errors
/// When one cannot be read, or ran on several processors.
pub fn of(serial: Option<&Path>, sequential: Option<&Path>) -> Result<References> {
    Ok(References {
        serial: serial.map(|dir| reference(dir, "--serial")).transpose()?,
        sequential: sequential.map(|dir| reference(dir, "--sequential")).transpose()?,
    })
}

fn reference(dir: &Path, option: &str) -> Result<Reference> {
    let dir = runs::named_or_newest(Some(dir))?;
    let run = progress::open(&dir)?;
    let reference = Reference::of(run.profile_with_rows()?, &dir.to_string_lossy(), option)?;
    run.rows_were_read()?;
    Ok(reference)
}
