//! The page `mpi` as text.

use proust_profile::{ClockBasis, MessagePart, UnmatchedReason};
use proust_words::counted;

use super::MpiPage;
use super::by_place::by_place;
use super::row::{CauseLine, CommunicatorLine, PairLine, WaitSite};
use crate::number::{Scale, bytes, duration, fixed, percent};
use crate::pages::heading;
use crate::pages::operations::count;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wrap::wrapped;

/// Lines of each table in text.
pub(super) const LINES: usize = 12;
/// Waits and causes of which the share is smaller are not shown in text.
pub(super) const LITTLE: f64 = 0.001;
/// Ranks up to which messages are shown as a matrix.
const MATRIX: usize = 12;

/// All of it.
pub(super) fn page(page: &MpiPage, style: &Style) -> String {
    let ranks = match page.ranks {
        // A program that was started without `mpirun`.
        0 if page.mpi_s > 0.0 => "a process without a rank".to_owned(),
        ranks => counted(ranks, "rank"),
    };
    let scope = format!("{} in calls of {ranks}", duration(page.mpi_s));
    let mut text = heading(style, "MPI", &scope);
    if page.operations.is_empty() {
        return text + " no calls of MPI were recorded here\n" + &page.notes.lines(style);
    }
    let io = if page.io_s > 0.0 { format!(" + {} in files", duration(page.io_s)) } else { String::new() };
    let parts = format!(
        "{} before partners arrived + {} transfer{io} + {} begin, end and local work = {}",
        duration(page.partner_s),
        duration(page.transfer_s),
        duration(page.runtime_s),
        duration(page.mpi_s),
    );
    text.push_str(&wrapped(&parts, 1, style.width));
    text.push_str(&efficiency(page, style));
    text.push_str(&waits(page, style));
    text.push_str(&causes(page, style));
    text.push_str(&page.delay_costs.as_ref().map_or_else(String::new, |costs| costs.text(style)));
    text.push_str(&page.critical_path.as_ref().map_or_else(String::new, |path| path.text(style)));
    text.push_str(&operations(page, style));
    text.push_str(&page.inside.text(style));
    text.push_str(&messages(page, style));
    text.push_str(&page.message_sizes.text(style));
    text.push_str(&collectives(page, style));
    text.push_str(&communicators(page, style));
    text.push_str(&matching(page, style));
    text.push_str(&clocks(page, style));
    text + &page.notes.lines(style)
}

pub(super) fn section(style: &Style, title: &str, explanation: &str) -> String {
    format!("\n{}", heading(style, title, explanation))
}

pub(super) fn more(hidden: usize, noun: &str) -> String {
    left_out(hidden, noun, "all")
}

/// The same of a table of places; JSON has each call path.
pub(super) fn more_places(hidden: usize, noun: &str) -> String {
    left_out(hidden, noun, "all, by call path")
}

fn left_out(hidden: usize, noun: &str, json_has: &str) -> String {
    match hidden {
        0 => String::new(),
        _ => format!(" {} not shown: --format json has {json_has}.\n", counted(hidden, noun)),
    }
}

pub(super) fn right(titles: &[&str]) -> Vec<(String, Align)> {
    titles.iter().map(|title| ((*title).to_owned(), Align::Right)).collect()
}

fn efficiency(page: &MpiPage, style: &Style) -> String {
    let Some(of) = &page.efficiency else { return String::new() };
    let scope = format!("of the whole run, {} from the begin of MPI to its end", duration(of.time_s));
    let mut text = section(style, "Efficiency", &scope);
    let product = format!(
        "parallel efficiency {} = load balance {} × communication efficiency {}",
        fixed(of.parallel_efficiency, 3),
        fixed(of.load_balance, 3),
        fixed(of.communication_efficiency, 3),
    );
    let parts = match of.ideal_s.zip(of.serialisation_efficiency).zip(of.transfer_efficiency) {
        Some(((ideal_s, serialisation), transfer)) => format!(
            "communication efficiency {} = serialisation {} × transfer {}; on an ideal network {}",
            fixed(of.communication_efficiency, 3),
            fixed(serialisation, 3),
            fixed(transfer, 3),
            duration(ideal_s),
        ),
        None => "serialisation and transfer are not known, since not all is matched".to_owned(),
    };
    text.push_str(&wrapped(&product, 1, style.width));
    text.push_str(&wrapped(&parts, 1, style.width));
    text.push_str(&of.hybrid.as_ref().map_or_else(String::new, |hybrid| hybrid.text(style)));
    if let Some(unknown) = of.hybrid_unknown {
        let line = format!("the efficiencies of ranks and their threads are not known: {unknown}");
        text.push_str(&wrapped(&line, 1, style.width));
    }
    text
}

fn waits(page: &MpiPage, style: &Style) -> String {
    let mut text = section(style, "Waits", "by pattern and place");
    if page.wait_states.is_empty() {
        return text + " no call waited for a partner here\n";
    }
    let scale = Scale::seconds(page.wait_states.iter().map(|state| state.seconds));
    let mut titles = vec![(scale.title("waited"), Align::Right)];
    titles.extend(right(&["waits", "longest"]));
    titles.extend([("pattern".to_owned(), Align::Left), ("in".to_owned(), Align::Left)]);
    titles.push(("called by".to_owned(), Align::Left));
    let mut table = Table::new(titles);
    let mut sites: Vec<_> = page
        .wait_states
        .iter()
        .flat_map(|state| by_place(&state.sites).into_iter().map(|site| (state.pattern, site)))
        .collect();
    sites.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
    let all_s: f64 = page.wait_states.iter().map(|state| state.seconds).sum();
    let is_much = |site: &&(&str, WaitSite)| site.1.seconds >= LITTLE * all_s;
    let shown = sites.iter().take(LINES).take_while(is_much).count();
    for (pattern, site) in &sites[..shown] {
        table.row(vec![
            scale.show(site.seconds).into(),
            count(site.count).into(),
            duration(site.longest_s).into(),
            (*pattern).into(),
            site.operation.clone().into(),
            site.site.cell(),
        ]);
    }
    text.push_str(&table.render_within(&["longest", "waits"], style));
    let wrong_order_s: f64 = sites.iter().map(|(_, site)| site.wrong_order_s).sum();
    if wrong_order_s >= LITTLE * all_s && wrong_order_s > 0.0 {
        let line = format!(
            "{} of it could have been filled with work on messages that were there already (wrong order).",
            duration(wrong_order_s)
        );
        text.push_str(&wrapped(&line, 1, style.width));
    }
    text + &more_places(sites.len() - shown, "place")
}

fn causes(page: &MpiPage, style: &Style) -> String {
    if page.causes.is_empty() {
        return String::new();
    }
    let mut text = section(style, "Causes", "what late ranks did while others waited for them");
    let all_s: f64 = page.causes.iter().map(|cause| cause.seconds).sum();
    let scale = Scale::seconds(page.causes.iter().map(|cause| cause.seconds));
    let mut titles = vec![(scale.title("caused"), Align::Right)];
    titles.extend(right(&["%", "rank"]));
    titles.extend([("by".to_owned(), Align::Left), ("waited in".to_owned(), Align::Left)]);
    let mut table = Table::new(titles);
    let is_much = |cause: &&CauseLine| cause.seconds >= LITTLE * all_s;
    let causes = by_place(&page.causes);
    let shown = causes.iter().take(LINES).take_while(is_much).count();
    for cause in &causes[..shown] {
        let by = match cause.how() {
            "" => cause.site.text(),
            how => format!("{}, {how}", cause.site.text()),
        };
        table.row(vec![
            scale.show(cause.seconds).into(),
            percent(cause.seconds, all_s).into(),
            cause.by().into(),
            by.into(),
            cause.victims.first().map(|victim| victim.site.cell()).unwrap_or_default(),
        ]);
    }
    text.push_str(&table.render(style));
    text + &more_places(causes.len() - shown, "cause")
}

fn operations(page: &MpiPage, style: &Style) -> String {
    let mut text = section(style, "Calls", "by function and place");
    let scale = Scale::seconds(page.operations.iter().map(|line| line.seconds));
    let mut titles = vec![(scale.title("time"), Align::Right)];
    titles.extend(right(&["waited", "calls", "bytes"]));
    titles.extend([("call".to_owned(), Align::Left), ("called by".to_owned(), Align::Left)]);
    let mut table = Table::new(titles);
    let places = by_place(&page.operations);
    for line in places.iter().take(LINES) {
        table.row(vec![
            scale.show(line.seconds).into(),
            scale.show(line.partner_s).into(),
            count(line.calls).into(),
            if line.bytes > 0 { bytes(line.bytes) } else { "-".to_owned() }.into(),
            line.operation.clone().into(),
            line.site.cell(),
        ]);
    }
    text.push_str(&table.render_within(&["bytes", "waited"], style));
    let cut = page.cut.as_ref().map_or(0, |cut| cut.rows);
    text + &more_places(places.len().saturating_sub(LINES), "place") + &more(cut, "call path")
}

fn messages(page: &MpiPage, style: &Style) -> String {
    if page.matrix.is_empty() {
        return String::new();
    }
    let all: u64 = page.matrix.iter().map(|line| line.messages).sum();
    let all_bytes: u64 = page.matrix.iter().map(|line| line.bytes).sum();
    let scope = format!("{}, {}; from row to column", counted(all, "message"), bytes(all_bytes));
    let mut text = section(style, "Messages", &scope);
    let mut names: Vec<String> = Vec::new();
    for line in &page.matrix {
        for name in [line.from.text(), line.to.text()] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.sort_by_key(|name| (name.parse::<u32>().is_err(), name.parse::<u32>().unwrap_or(0), name.clone()));
    if names.len() > MATRIX {
        return text + &pairs(page, style);
    }
    let waited = |line: &PairLine| line.late_sender_s + line.late_receiver_s;
    text.push_str(&matrix(page, &names, "messages", style, &|line| count(line.messages)));
    text.push_str(&matrix(page, &names, "bytes", style, &|line| bytes(line.bytes)));
    if page.matrix.iter().any(|line| waited(line) > 0.0) {
        text.push_str(&matrix(page, &names, "waited", style, &|line| match waited(line) {
            0.0 => "-".to_owned(),
            waited_s => duration(waited_s),
        }));
    }
    text
}

fn matrix(
    page: &MpiPage,
    names: &[String],
    title: &str,
    style: &Style,
    cell: &dyn Fn(&PairLine) -> String,
) -> String {
    let mut titles = vec![(title.to_owned(), Align::Right)];
    titles.extend(names.iter().map(|name| (name.clone(), Align::Right)));
    // The last column takes what room there is, flush left.
    titles.push((String::new(), Align::Left));
    let mut table = Table::new(titles);
    for from in names {
        let mut cells = vec![Cell::from(from.clone())];
        cells.extend(names.iter().map(|to| {
            let line = page.matrix.iter().find(|line| line.from.text() == *from && line.to.text() == *to);
            line.map_or_else(|| "-".to_owned(), cell).into()
        }));
        table.row(cells);
    }
    table.render(style)
}

fn pairs(page: &MpiPage, style: &Style) -> String {
    let mut lines: Vec<&PairLine> = page.matrix.iter().collect();
    let waited = |line: &PairLine| line.late_sender_s + line.late_receiver_s;
    lines.sort_by(|a, b| waited(b).total_cmp(&waited(a)).then(b.bytes.cmp(&a.bytes)));
    let mut table = Table::new(
        right(&["messages", "bytes", "waited", "from"]).into_iter().chain([("to".to_owned(), Align::Left)]),
    );
    for line in lines.iter().take(LINES) {
        table.row(vec![
            count(line.messages).into(),
            bytes(line.bytes).into(),
            duration(waited(line)).into(),
            line.from.text().into(),
            line.to.text().into(),
        ]);
    }
    table.render(style) + &more(lines.len().saturating_sub(LINES), "pair")
}

fn collectives(page: &MpiPage, style: &Style) -> String {
    if page.collectives.is_empty() {
        return String::new();
    }
    let mut text = section(style, "Collectives", "of which all members are known");
    let scale = Scale::seconds(page.collectives.iter().map(|line| line.partner_s));
    let mut titles = vec![(scale.title("waited"), Align::Right)];
    titles.extend(right(&["times", "bytes"]));
    titles.push(("collective".to_owned(), Align::Left));
    let mut table = Table::new(titles);
    for line in page.collectives.iter().take(LINES) {
        table.row(vec![
            scale.show(line.partner_s).into(),
            count(line.instances).into(),
            if line.bytes > 0 { bytes(line.bytes) } else { "-".to_owned() }.into(),
            Cell::from(line.operation.clone()).with_tail(counted(line.communicators.len(), "communicator")),
        ]);
    }
    text.push_str(&table.render(style));
    text + &more(page.collectives.len().saturating_sub(LINES), "collective")
}

fn communicators(page: &MpiPage, style: &Style) -> String {
    let shared =
        |line: &&CommunicatorLine| u64::from(line.size) + u64::from(line.second_size.unwrap_or(0)) > 1;
    let lines: Vec<&CommunicatorLine> = page.communicators.iter().filter(shared).collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut text = section(style, "Communicators", "of more than one process");
    let mut titles = right(&["size", "messages", "bytes"]);
    titles.push(("communicator".to_owned(), Align::Left));
    let mut table = Table::new(titles);
    for line in lines.iter().take(LINES) {
        let size = match line.second_size {
            Some(second) => format!("{} + {second}", line.size),
            None => line.size.to_string(),
        };
        let name = if line.world { "MPI_COMM_WORLD".to_owned() } else { line.id.clone() };
        let tail = match line.known {
            false => "not matched: how it was made is not known".to_owned(),
            true => members(&line.members),
        };
        table.row(vec![
            size.into(),
            count(line.messages).into(),
            if line.bytes > 0 { bytes(line.bytes) } else { "-".to_owned() }.into(),
            Cell::from(name).with_tail(tail),
        ]);
    }
    text.push_str(&table.render(style));
    text + &more(lines.len().saturating_sub(LINES), "communicator")
}

/// Ranks, as ranges.
fn members(ranks: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for range in ranks.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        parts.push(match range {
            [only] => only.to_string(),
            _ => format!("{}-{}", range[0], range[range.len() - 1]),
        });
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("ranks {}", parts.join(",")),
    }
}

fn matching(page: &MpiPage, style: &Style) -> String {
    let Some(matching) = &page.matching else { return String::new() };
    let mut lines: Vec<String> = Vec::new();
    for &part in MessagePart::ALL {
        for &reason in UnmatchedReason::ALL {
            let of =
                page.unmatched.iter().filter(|line| (line.part, line.reason) == (part.id(), reason.id()));
            let (mut all, mut ranks) = (0, Vec::new());
            for line in of {
                all += line.count;
                ranks.push(line.process.text());
            }
            if all > 0 {
                lines.push(format!(
                    "{} of {} {} no partner: {}",
                    part_of(all, part),
                    if ranks.len() > 4 {
                        counted(ranks.len(), "rank")
                    } else {
                        format!("rank {}", ranks.join(", "))
                    },
                    if all == 1 { "has" } else { "have" },
                    why(reason)
                ));
            }
        }
    }
    if matching.contradictions > 0 {
        lines.push(format!(
            "{} whose members called different functions, or named different roots",
            counted(matching.contradictions, "collective")
        ));
    }
    if matching.violations > 0 {
        lines.push(format!(
            "{} received before being sent, by up to {}: the clocks of hosts differ, and waits between them \
             are off by as much",
            counted(matching.violations, "message"),
            duration(matching.largest_violation_s)
        ));
    }
    if let Some(until_s) = matching.matched_until_s {
        lines.push(format!(
            "nothing is matched after {}, since a process has no record from there on",
            duration(until_s)
        ));
    }
    if matching.unknown_requests > 0 {
        lines.push(format!(
            "{} completed of which it is not known what started them",
            counted(matching.unknown_requests, "request")
        ));
    }
    if matching.untraced_calls > 0 {
        lines.push(format!(
            "{} of functions whose messages are not recorded (partitioned messages)",
            counted(matching.untraced_calls, "call")
        ));
    }
    if lines.is_empty() {
        let all = format!(
            "\n All messages and collectives have their partners ({}).\n",
            counted(matching.messages, "message")
        );
        return style.paint(Paint::Faint, &all);
    }
    let mut text = section(style, "Not matched", "waits for these are not known");
    lines.iter().for_each(|line| text.push_str(&wrapped(line, 1, style.width)));
    text
}

/// `3 receives`.
fn part_of(all: u64, part: MessagePart) -> String {
    match part {
        MessagePart::Send => counted(all, "send"),
        MessagePart::Receive => counted(all, "receive"),
        MessagePart::Collective => format!("{} of collectives", counted(all, "part")),
    }
}

fn why(reason: UnmatchedReason) -> &'static str {
    match reason {
        UnmatchedReason::NotRecorded => "the log of the other process, or of a member, is missing",
        UnmatchedReason::UnknownCommunicator => "how their communicator was made is not known",
        UnmatchedReason::BehindGap => "the record of a process has a gap before that",
        UnmatchedReason::CutOff => "the other process did not come to the end of MPI",
        UnmatchedReason::NeverCompleted => "they, or receives before them, were never completed",
        UnmatchedReason::Missing => "the other end is not in the record",
    }
}

fn clocks(page: &MpiPage, style: &Style) -> String {
    if page.clocks.is_empty() {
        return String::new();
    }
    let mut text = section(style, "Clocks", "of hosts, brought to that of the first rank's");
    let mut titles = right(&["error", "drift"]);
    titles.extend([("by".to_owned(), Align::Left), ("host".to_owned(), Align::Left)]);
    let mut table = Table::new(titles);
    for line in page.clocks.iter().take(LINES) {
        let (by, drift) = match line.basis {
            ClockBasis::Reference => ("reference", "-".to_owned()),
            ClockBasis::Messages => ("messages", format!("{} ppm", fixed(line.drift_ppm, 2))),
            ClockBasis::ClockOfDay => ("clock of day", "-".to_owned()),
        };
        let error = match (line.basis, line.error_s) {
            (ClockBasis::Reference, _) => "-".to_owned(),
            (_, Some(error_s)) => duration(error_s),
            (_, None) => "not known".to_owned(),
        };
        table.row(vec![error.into(), drift.into(), by.into(), Cell::from(line.host.clone())]);
    }
    text.push_str(&table.render(style));
    text + &more(page.clocks.len().saturating_sub(LINES), "host")
}
