//! `proust schema`: the types of the pages' JSON.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use proust_report::{PageType, schema};
use proust_words::nearest::nearest;

use crate::failure::WrongUsage;
use crate::output;
use crate::suggested::{self, Suggested};

/// Arguments of `proust schema`.
#[derive(Args, Debug)]
#[command(after_help = "\
Pages of comparisons and sweeps are diff-NAME and sweep-NAME; `callers FUNCTION` is callers-of-function.

Examples:
  proust schema > schema.json      the types of all pages
  proust schema summary            the type of one")]
pub struct SchemaArgs {
    /// The page; without it all of them
    #[arg(value_name = "PAGE", hide_possible_values = true, value_parser = Suggested(suggested::page_types))]
    pub page: Option<String>,
}

/// Prints a JSON schema.
///
/// # Errors
/// When there is no such page, or it cannot be written.
pub fn run(args: &SchemaArgs) -> Result<ExitCode> {
    let Some(text) = schema(args.page.as_deref()) else {
        let word = args.page.as_deref().unwrap_or_default();
        let types = PageType::all();
        let known = types.iter().map(|page| page.id.as_str());
        let end = match nearest(word, known.clone(), 1).first() {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
        };
        return Err(WrongUsage(format!("no JSON is called `{word}`; {end}")).into());
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
