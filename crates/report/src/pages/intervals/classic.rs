//! The characteristics in the layouts of the two analyzers: that of the DVM system, which counts processors
//! from 1, and that of MPI traces, which prints ranks.

use std::fmt::Write;

use proust_characteristics::comparative::Comparative;
use proust_characteristics::dvm::{Column, Interval};
use proust_characteristics::mpi::{Mpi, MpiInterval, Reading};
use proust_characteristics::name::Characteristic as C;
use proust_characteristics::operation::Operation;
use proust_characteristics::terms::OperationTerms;
use proust_query::characteristics::{Characterised, RankOfJob};

use super::super::base_name;
use super::super::facts::seconds;
use super::characteristics::{has_several_jobs, rank_in_words};
use super::one_processor::OneProcessor;
use crate::question::{Block, Classic};

/// In place of a number without a source.
const UNKNOWN: &str = "n/a";
/// The widest name of a characteristic, with what shows its depth.
const NAME: usize = 32;

/// Where an interval is, and how deep.
pub(super) struct Head<'h> {
    pub file: Option<&'h str>,
    pub line: Option<u32>,
    pub name: &'h str,
    pub level: usize,
    pub kind: &'static str,
    pub threads: &'h [String],
    pub one_processor: Option<&'h OneProcessor>,
}

fn time(ns: Option<u64>) -> String {
    ns.map_or_else(|| UNKNOWN.into(), |ns| format!("{:.6}", seconds(ns)))
}

fn ratio(number: Option<f64>) -> String {
    number.map_or_else(|| UNKNOWN.into(), |number| format!("{number:.6}"))
}

/// Operations and executions are shares of those that take part; the sum is whole but for rounding.
fn count(number: Option<f64>) -> String {
    number.map_or_else(|| UNKNOWN.into(), |number| format!("{:.0}", (number - 1e-6).ceil().max(0.0)))
}

fn is_zero(number: Option<u64>) -> bool {
    number == Some(0)
}

/// An interval in the layout of the DVM system.
pub(super) fn dvm(head: &Head<'_>, of: &Characterised, classic: &Classic) -> String {
    let interval = &of.interval;
    let mut text = String::new();
    let line = head.line.map_or_else(|| UNKNOWN.to_owned(), |line| line.to_string());
    let file = head.file.map_or(UNKNOWN, base_name);
    let executions = count(Some(of.executions));
    let _ = writeln!(
        text,
        "INTERVAL ( LINE= {line} SOURCE= {file} ) LEVEL={} {} EXE_COUNT={executions} NAME= {}",
        head.level, head.kind, head.name,
    );
    if of.missing > 0 {
        let _ = writeln!(
            text,
            "Executed by {} of {} processors",
            interval.processors,
            interval.processors + of.missing
        );
    }
    let has = |block| classic.blocks.contains(&block);
    if has(Block::Main) {
        text.push_str(&main(interval, classic.zeros));
    }
    if has(Block::Operations) {
        text.push_str(&operations(interval, classic.zeros));
    }
    if has(Block::Main) {
        text.push_str(&pop(interval));
    }
    if let Some(of) = head.one_processor.filter(|_| has(Block::Main)) {
        text.push_str(&one_processor(of));
    }
    if has(Block::Comparative) {
        text.push_str(&comparative(interval, classic.zeros));
        if has(Block::Operations) {
            text.push_str(&comparative_operations(interval, classic.zeros));
        }
    }
    if has(Block::Processors) {
        text.push_str(&processors(interval, head.threads, classic));
    }
    text
}

fn name_and(name: &str, number: &str) -> String {
    format!("{name:<NAME$}{number:>16}")
}

/// The main characteristics.
pub(super) fn main(interval: &Interval, zeros: bool) -> String {
    let mut text = String::from("--- Main characteristics ---\n");
    let of = |of: C| interval.main(of);
    let replicated = if interval.may_contain_replicated() { "  (may contain replicated work)" } else { "" };
    let first = name_and(C::Efficiency.name(), &ratio(interval.efficiency()));
    let _ = writeln!(text, "{first}{replicated}");
    let io = format!(
        "  ({} {}, {} {})",
        C::ProductiveCpuTime.name(),
        time(of(C::ProductiveCpuTime)),
        C::IoTime.name(),
        time(of(C::IoTime))
    );
    let parts = format!(
        "  (Seq {}, Par {})",
        time(of(C::InsufficientParallelismSeq)),
        time(of(C::InsufficientParallelismPar))
    );
    for (depth, of, components) in [
        ("", C::ExecutionTime, ""),
        ("", C::Processors, ""),
        ("", C::TotalTime, ""),
        ("* ", C::ProductiveTime, io.as_str()),
        ("* ", C::LostTime, ""),
        ("- ", C::InsufficientParallelism, parts.as_str()),
        ("- ", C::Communication, ""),
        ("- ", C::Idle, ""),
        ("", C::Synchronization, ""),
        ("", C::TimeVariation, ""),
        ("", C::Overlap, ""),
        ("", C::LoadImbalance, ""),
    ] {
        let value = interval.main(of);
        let shown = match of {
            C::Processors => interval.processors.to_string(),
            _ => time(value),
        };
        if zeros || !is_zero(value) {
            let line = name_and(&format!("{depth}{}", of.name()), &shown);
            let _ = writeln!(text, "{line}{components}");
        }
    }
    text
}

/// Rows of the table: those with a source, or all.
fn rows(interval: &Interval, zeros: bool) -> Vec<(Operation, OperationTerms)> {
    let row = |&operation: &Operation| {
        let found = interval.operations.get(&operation).copied();
        let is_nothing = |row: &OperationTerms| {
            row.count.unwrap_or(0.0) == 0.0
                && Column::ALL.iter().all(|column| column.of(row).unwrap_or(0) == 0)
        };
        match found {
            _ if zeros => Some((operation, found.unwrap_or_default())),
            Some(row) if !is_nothing(&row) => Some((operation, row)),
            _ => None,
        }
    };
    Operation::ALL.iter().filter_map(row).collect()
}

fn operations(interval: &Interval, zeros: bool) -> String {
    let rows = rows(interval, zeros);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("{:<18}{:>10}", "", "Nop");
    Column::ALL.iter().for_each(|column| {
        let _ = write!(text, "{:>17}", column.name());
    });
    text.push('\n');
    for (operation, row) in rows {
        let _ = write!(text, "{:<18}{:>10}", operation.name(), count(row.count));
        for column in Column::ALL {
            let _ = write!(text, "{:>17}", time(column.of(&row)));
        }
        text.push('\n');
    }
    text
}

/// The efficiencies of the POP model, and the identity.
pub(super) fn pop(interval: &Interval) -> String {
    let pop = interval.pop;
    let mut text = String::from("--- POP efficiencies (useful: CPU_time and I/O_time) ---\n");
    for (name, number) in [
        ("Parallel_efficiency", pop.parallel_efficiency),
        ("* Load_balance", pop.load_balance),
        ("* Communication_efficiency", pop.communication_efficiency),
    ] {
        let _ = writeln!(text, "{}", name_and(name, &ratio(number)));
    }
    let _ = writeln!(
        text,
        "Efficiency {} = Parallel_efficiency {} - replicated work / Total_time {}",
        ratio(interval.efficiency()),
        ratio(pop.parallel_efficiency),
        ratio(pop.replicated_share.or(Some(0.0))),
    );
    text
}

/// The forecast, and what runs on one processor really took.
fn one_processor(of: &OneProcessor) -> String {
    let mut text = String::from("--- On one processor (`proust explain forecast`: why these differ) ---\n");
    let time_s = |time_s: Option<f64>| time_s.map_or_else(|| UNKNOWN.into(), |s| format!("{s:.6}"));
    for (name, value) in [
        ("Forecast (Productive_time)", Some(of.forecast_s)),
        ("Run_on_one_processor", of.serial_s),
        ("Sequential_build", of.sequential_s),
    ] {
        let _ = writeln!(text, "{}", name_and(name, &time_s(value)));
    }
    text
}

/// The lines of the comparative characteristics, with their depth.
const COMPARED: [(&str, C); 20] = [
    ("", C::LostTime),
    ("* ", C::InsufficientParallelism),
    ("- ", C::InsufficientParallelismSeq),
    ("- ", C::InsufficientParallelismPar),
    ("* ", C::Communication),
    ("* ", C::Idle),
    ("", C::ExecutionTime),
    ("* ", C::CpuTime),
    ("- ", C::CpuTimeSeq),
    ("- ", C::CpuTimePar),
    ("- ", C::CpuTimePassive),
    ("* ", C::IoTime),
    ("* ", C::AbsentTime),
    ("", C::Communication),
    ("", C::Synchronization),
    ("", C::TimeVariation),
    ("", C::Overlap),
    ("", C::LoadImbalance),
    ("", C::Processors),
    ("", C::Iterations),
];

fn over(of: Comparative, is_time: bool) -> String {
    let show = |number: u64| if is_time { time(Some(number)) } else { number.to_string() };
    let mean = if is_time { format!("{:.6}", of.mean() / 1e9) } else { format!("{:.0}", of.mean()) };
    format!("{:>16}{:>6}{:>16}{:>6}{mean:>16}", show(of.min), of.min_at + 1, show(of.max), of.max_at + 1)
}

fn comparative(interval: &Interval, zeros: bool) -> String {
    let mut text = String::from("--- Comparative characteristics ---\n");
    let _ =
        writeln!(text, "{:<NAME$}{:>16}{:>6}{:>16}{:>6}{:>16}", "", "T min", "Npr", "T max", "Npr", "T mid");
    for (depth, of) in COMPARED {
        let name = format!("{depth}{}", of.name());
        match interval.comparative(of) {
            Some(all) if zeros || all.max > 0 => {
                let _ = writeln!(text, "{name:<NAME$}{}", over(all, of.is_time()));
            }
            Some(_) => {}
            None => {
                let _ = writeln!(text, "{name:<NAME$}{UNKNOWN:>16}");
            }
        }
    }
    text
}

fn comparative_operations(interval: &Interval, zeros: bool) -> String {
    let rows = rows(interval, zeros);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("{:<22}", "");
    Column::ALL.iter().for_each(|column| {
        let _ = write!(text, "{:>16}{:>5}", column.name(), "Npr");
    });
    text.push('\n');
    for (operation, _) in rows {
        let cells = Column::ALL.map(|column| interval.comparative_of(operation, column));
        for (n, name) in ["min", "max", "mid"].into_iter().enumerate() {
            let label = if n == 0 { operation.name() } else { "" };
            let _ = write!(text, "{label:<18}{name:<4}");
            for cell in cells {
                let (shown, at) = match cell.map(|cell| (n, cell)) {
                    None => (UNKNOWN.into(), String::new()),
                    Some((0, cell)) => (time(Some(cell.min)), (cell.min_at + 1).to_string()),
                    Some((1, cell)) => (time(Some(cell.max)), (cell.max_at + 1).to_string()),
                    Some((_, cell)) => (format!("{:.6}", cell.mean() / 1e9), String::new()),
                };
                let _ = write!(text, "{shown:>16}{at:>5}");
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
    }
    text
}

fn processors(interval: &Interval, threads: &[String], classic: &Classic) -> String {
    let mut text = String::from("--- Execution characteristics ---\n");
    for at in (0..interval.processors).filter(|at| classic.has(*at as u32 + 1)) {
        let who = threads.get(at).map_or("", String::as_str);
        let _ = writeln!(text, "Npr= {} ( {who} )", at + 1);
        // Communication is there twice in the comparison, as a loss and by itself.
        let mut is_seen = Vec::new();
        for (depth, of) in COMPARED {
            if of == C::Processors || is_seen.contains(&of) {
                continue;
            }
            is_seen.push(of);
            let value = interval.of_processor(at, of);
            if zeros_or(value, classic.zeros) {
                let shown = match value {
                    Some(number) if !of.is_time() => number.to_string(),
                    _ => time(value),
                };
                let _ = writeln!(text, "{}", name_and(&format!("{depth}{}", of.name()), &shown));
            }
        }
    }
    text
}

fn zeros_or(value: Option<u64>, zeros: bool) -> bool {
    zeros || !is_zero(value)
}

/// An interval in the layout of the analyzer of MPI traces.
pub(super) fn mpi(head: &Head<'_>, of: &Characterised, mpi: &MpiInterval, classic: &Classic) -> String {
    let line = head.line.map_or_else(|| UNKNOWN.to_owned(), |line| line.to_string());
    let file = head.file.map_or(UNKNOWN, base_name);
    let mut text = format!(
        "Interval (LineNumber = {line} SourceFile = {file}) Level={} EXE_Count={}\n",
        head.level,
        count(Some(of.executions))
    );
    let mut put = |name: &str, number: String| {
        let _ = writeln!(text, "{}", name_and(name, &number));
    };
    if classic.blocks.contains(&Block::Main) {
        put(" ---Main Characteristics---", String::new());
        put("Parallelization Efficiency", ratio(mpi.efficiency()));
        put("Execution Time", time(Some(mpi.execution_ns)));
        put("Processors", mpi.processors().to_string());
        put("Total Time", time(Some(mpi.total_ns)));
        put("Productive Time", time(mpi.productive_ns));
        if let Some(other) = mpi.read_as(Reading::Replicated) {
            // The document says so beside the number, and its numbers are those of the other reading.
            put("* MPI of one in N productive", time(other.productive_ns));
            put("* Efficiency with it", ratio(other.efficiency()));
        }
        put("Lost Time", time(mpi.lost_ns));
        put("---MPI Time", time(mpi.lost_mpi_ns()));
        put("---Idle Time", time(mpi.sum(Mpi::Idle)));
        put("Communication Time", time(mpi.sum(Mpi::Comm)));
        for part in [Mpi::SendRecv, Mpi::CollectiveAll, Mpi::AllToAll] {
            put(&format!("*****{}", part.name()), time(mpi.sum(part)));
        }
        for of in [Mpi::PotentialSync, Mpi::Variation, Mpi::Start] {
            put(of.name(), time(mpi.sum(of)));
        }
        let span = mpi.message_span_ns.map(|ns| format!("{:.6}", ns as f64 / 1e9));
        put("Message Span", span.unwrap_or_else(|| UNKNOWN.into()));
    }
    if classic.blocks.contains(&Block::Comparative) {
        let _ = writeln!(
            text,
            "---Comparative Characteristics---\n{:<NAME$}{:>16}{:>7}{:>16}{:>7}{:>16}",
            "", "Tmin", "Nproc", "Tmax", "Nproc", "Tmid"
        );
        let is_of_several = has_several_jobs(&of.ranks);
        let rank = |at: usize| match of.ranks.get(at) {
            Some(RankOfJob { job: Some(job), rank }) if is_of_several => format!("{job}:{rank}"),
            Some(of) => of.rank.to_string(),
            None => at.to_string(),
        };
        for of in [Mpi::Lost, Mpi::Idle, Mpi::Comm, Mpi::MpiTime, Mpi::PotentialSync, Mpi::Variation] {
            let numbers = match mpi.comparative(of) {
                None => format!("{UNKNOWN:>16}"),
                Some(over) => format!(
                    "{:>16}{:>7}{:>16}{:>7}{:>16}",
                    time(Some(over.min)),
                    rank(over.min_at),
                    time(Some(over.max)),
                    rank(over.max_at),
                    format!("{:.6}", over.mean() / 1e9)
                ),
            };
            let _ = writeln!(text, "{:<NAME$}{numbers}", of.name());
        }
    }
    if classic.blocks.contains(&Block::Processors) {
        text.push_str(&ranks(&of.ranks, mpi, classic));
    }
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Each rank that is asked for.
fn ranks(ranks: &[RankOfJob], mpi: &MpiInterval, classic: &Classic) -> String {
    let mut text = String::from("---Execution Characteristics---\n");
    let is_of_several = has_several_jobs(ranks);
    for (at, &rank) in ranks.iter().enumerate().filter(|(_, of)| classic.has(of.rank)) {
        let _ = writeln!(text, "Nproc = {} ( {} )", rank.rank, rank_in_words(rank, is_of_several));
        for &of in Mpi::ALL {
            let value = mpi.of_rank(at, of);
            if zeros_or(value, classic.zeros) {
                let _ = writeln!(text, "{}", name_and(of.name(), &time(value)));
            }
        }
    }
    text
}
