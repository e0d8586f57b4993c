//! The efficiencies of ranks with threads: a column for each published variant.

use proust_profile::Profile;
use proust_query::mpi::hybrid::{Factors, Hybrid, Rank, Unknown, Variant};
use schemars::JsonSchema;
use serde::Serialize;

use super::row::ProcessName;
use super::text::section;
use crate::number::fixed;
use crate::style::Style;
use crate::table::{Align, Table};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HybridLine {
    ranks: Vec<RankLine>,
    variants: Vec<VariantLine>,
}

/// A rank, as the first thread saw it, and the work of all of its threads.
#[derive(Debug, Serialize, JsonSchema)]
struct RankLine {
    #[serde(flatten)]
    process: ProcessName,
    threads: u32,
    outside_s: f64,
    regions_s: f64,
    work_s: f64,
    scheduling_s: f64,
    most_useful_s: f64,
}

/// A variant; null is what it does not have.
#[derive(Debug, Serialize, JsonSchema)]
struct VariantLine {
    variant: &'static str,
    parallel_efficiency: f64,
    load_balance: Option<f64>,
    communication_efficiency: Option<f64>,
    mpi_efficiency: f64,
    mpi_load_balance: f64,
    mpi_communication_efficiency: f64,
    mpi_serialisation_efficiency: Option<f64>,
    mpi_transfer_efficiency: Option<f64>,
    openmp_efficiency: f64,
    openmp_region_efficiency: Option<f64>,
    openmp_serial_efficiency: Option<f64>,
    openmp_load_balance: Option<f64>,
    openmp_communication_efficiency: Option<f64>,
    openmp_scheduling_efficiency: Option<f64>,
}

impl HybridLine {
    pub(super) fn new(profile: &Profile, of: &Hybrid) -> HybridLine {
        let rank = |rank: &Rank| RankLine {
            process: ProcessName::new(profile, rank.process),
            threads: rank.threads,
            outside_s: rank.outside.as_seconds(),
            regions_s: rank.regions.as_seconds(),
            work_s: rank.work.as_seconds(),
            scheduling_s: rank.scheduling.as_seconds(),
            most_useful_s: rank.most_useful.as_seconds(),
        };
        HybridLine {
            ranks: of.ranks.iter().map(rank).collect(),
            variants: of.variants.iter().map(|(variant, of)| VariantLine::new(*variant, of)).collect(),
        }
    }

    pub(super) fn text(&self, style: &Style) -> String {
        let mut text = section(style, "Ranks and their threads", "efficiencies by published variants");
        let mut columns = vec![("efficiency".to_owned(), Align::Left)];
        columns.extend(self.variants.iter().map(|of| (of.variant.to_owned(), Align::Right)));
        let mut table = Table::new(columns);
        type Of = fn(&VariantLine) -> Option<f64>;
        let rows: [(&str, Of); 14] = [
            ("parallel", |of| Some(of.parallel_efficiency)),
            ("  load balance", |of| of.load_balance),
            ("  communication", |of| of.communication_efficiency),
            ("MPI", |of| Some(of.mpi_efficiency)),
            ("  load balance", |of| Some(of.mpi_load_balance)),
            ("  communication", |of| Some(of.mpi_communication_efficiency)),
            ("    serialisation", |of| of.mpi_serialisation_efficiency),
            ("    transfer", |of| of.mpi_transfer_efficiency),
            ("OpenMP", |of| Some(of.openmp_efficiency)),
            ("  regions", |of| of.openmp_region_efficiency),
            ("  outside of regions", |of| of.openmp_serial_efficiency),
            ("  load balance", |of| of.openmp_load_balance),
            ("  communication", |of| of.openmp_communication_efficiency),
            ("  scheduling", |of| of.openmp_scheduling_efficiency),
        ];
        for (name, of) in rows {
            let mut cells = vec![name.into()];
            let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| fixed(value, 3));
            cells.extend(self.variants.iter().map(|variant| shown(of(variant)).into()));
            table.row(cells);
        }
        text.push_str(&table.render(style));
        text
    }
}

impl VariantLine {
    fn new(variant: Variant, of: &Factors) -> VariantLine {
        VariantLine {
            variant: match variant {
                Variant::Additive => "additive",
                Variant::Multiplicative => "multiplicative",
                Variant::Threads => "bsc",
                Variant::Processors => "talp",
            },
            parallel_efficiency: of.parallel,
            load_balance: of.load_balance,
            communication_efficiency: of.communication,
            mpi_efficiency: of.mpi,
            mpi_load_balance: of.mpi_load_balance,
            mpi_communication_efficiency: of.mpi_communication,
            mpi_serialisation_efficiency: of.mpi_serialisation,
            mpi_transfer_efficiency: of.mpi_transfer,
            openmp_efficiency: of.openmp,
            openmp_region_efficiency: of.openmp_regions,
            openmp_serial_efficiency: of.openmp_serial,
            openmp_load_balance: of.openmp_load_balance,
            openmp_communication_efficiency: of.openmp_communication,
            openmp_scheduling_efficiency: of.openmp_scheduling,
        }
    }
}

/// Why the efficiencies are not known.
pub(super) fn unknown(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Nested => "parallel regions have regions of several threads in them",
        Unknown::OtherThreads => {
            "other threads than the one that began MPI call it, or open parallel regions"
        }
        Unknown::OutsideOfMpi => "parallel regions were executed before MPI began or after its end",
    }
}
