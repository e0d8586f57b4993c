//! The results for a whole run that take all its rows to find, as files beside the profile's tables.

use proust_account::blame::{BesideRows, Blame};
use proust_account::ledger::{Ledger, parts_of_rows};
use proust_findings::{Finding, Whole};
use proust_profile::Profile;
use proust_profile::tables::{Building, Kept, TablesError};
use proust_query::OperationSums;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The ledger without its rows.
pub(super) const LEDGER: &str = "ledger.json";
const LEDGER_ROWS: &str = "ledger_rows.parquet";
const FINDINGS: &str = "findings.json";
/// Locks, waits for them, and wakers.
const BLAME: &str = "blame.json";
const BLAME_ROWS: &str = "blame_rows.parquet";
const OPERATIONS: &str = "operations.json";

/// Adds all of it to an analysis that is being built.
pub(super) fn add(building: &mut Building, whole: &Whole) -> Result<(), TablesError> {
    add_json(building, LEDGER, &whole.ledger)?;
    building.add_numbers(LEDGER_ROWS, parts_of_rows(&whole.ledger))?;
    add_json(building, FINDINGS, &whole.findings)?;
    add_json(building, BLAME, &BesideRows::of(&whole.blame))?;
    building.add_numbers(BLAME_ROWS, whole.blame.parts_of_rows())?;
    add_json(building, OPERATIONS, &whole.operations)
}

fn add_json(building: &mut Building, name: &str, value: &impl Serialize) -> Result<(), TablesError> {
    building.add_written(name, |to| Ok(serde_json::to_writer(to, value)?))
}

fn json<T: DeserializeOwned>(kept: &Kept, name: &str) -> Result<T, TablesError> {
    let json = |source| TablesError::Json { path: kept.folder().join(name), source };
    serde_json::from_slice(&kept.bytes(name)?).map_err(json)
}

/// A file that is as it was written, and yet not of this profile.
fn of_another(kept: &Kept, name: &str) -> TablesError {
    let what = "it belongs to another profile".to_owned();
    TablesError::Damaged { path: kept.folder().join(name), what }
}

pub(super) fn ledger(kept: &Kept) -> Result<Ledger, TablesError> {
    json(kept, LEDGER)
}

/// Gives the ledger its rows.
pub(super) fn ledger_rows(kept: &Kept, ledger: &mut Ledger, profile: &Profile) -> Result<(), TablesError> {
    let rows = kept.numbers(LEDGER_ROWS)?;
    let taken = ledger.take_rows(&rows, profile.locations.len(), profile.contexts.len())?;
    taken.ok_or_else(|| of_another(kept, LEDGER_ROWS))
}

pub(super) fn findings(kept: &Kept) -> Result<Vec<Finding>, TablesError> {
    json(kept, FINDINGS)
}

pub(super) fn blame(kept: &Kept, profile: &Profile) -> Result<Blame, TablesError> {
    let blame = json::<BesideRows>(kept, BLAME)?.with_rows(&kept.numbers(BLAME_ROWS)?, profile)?;
    blame.ok_or_else(|| of_another(kept, BLAME))
}

pub(super) fn operations(kept: &Kept, profile: &Profile) -> Result<OperationSums, TablesError> {
    let sums: OperationSums = json(kept, OPERATIONS)?;
    if sums.fits(profile) { Ok(sums) } else { Err(of_another(kept, OPERATIONS)) }
}
