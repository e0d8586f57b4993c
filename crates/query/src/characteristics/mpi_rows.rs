//! The rows of the table of operations that calls of MPI belong to, by function: each call to exactly one.
//!
//! | row | functions |
//! |---|---|
//! | Start_reduction, Wait_reduction | Reduce, Allreduce, Scan, Exscan, Reduce_scatter; the waits for those that do not block |
//! | Start_shadow, Wait_shadow | groups of messages in both directions that one Wait* ends; Sendrecv; neighbourhood |
//! | Remote_access | one-sided: Put, Get, Accumulate, windows |
//! | Redistribution | Alltoall, Gather, Scatter, Allgather |
//! | I/O | MPI-IO; what hands on data that one rank reads or writes |
//! | Barrier, Broadcast | Barrier, Bcast |
//! | Point_to_point | all other messages |
//! | Startup | Init, Finalize |
//! | Other | everything else |

use proust_characteristics::operation::Operation as Row;
use proust_profile::Nature;

/// How a call communicates, for the analyzer of MPI traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Sends, receives, or completes messages.
    SendRecv,
    /// A collective other than all-to-all, or the wait for one.
    CollectiveAll,
    /// All-to-all: Alltoall, also of neighbours.
    AllToAll,
    /// Only starts something.
    Start,
    /// None of these.
    None,
}

/// A function without what says whether it blocks or is prepared: `Allreduce` of `MPI_Iallreduce`.
fn plain(function: &str) -> String {
    let name = function.strip_prefix("MPI_").unwrap_or(function);
    let name = name.strip_suffix("_init").unwrap_or(name);
    let mut letters = name.chars();
    match (letters.next(), letters.next()) {
        (Some('I'), Some(second)) if second.is_lowercase() && name != "Init" && name != "Init_thread" => {
            second.to_uppercase().chain(letters).collect()
        }
        _ => name.to_owned(),
    }
}

/// Whether a call of this function returns before what it starts is complete.
fn is_start(function: &str) -> bool {
    let name = function.strip_prefix("MPI_").unwrap_or(function);
    let is_prepared = name.ends_with("_init") && !name.starts_with("Session");
    let is_immediate = plain(function) != name && !is_prepared && !is_probe(name);
    is_prepared || is_immediate || name == "Start" || name == "Startall"
}

fn is_probe(name: &str) -> bool {
    matches!(name, "Iprobe" | "Improbe")
}

/// The row of a call of this function, which completes what `completes` started.
pub(super) fn row_of(
    (function, nature): (&str, Nature),
    completes: Option<&str>,
    is_group: bool,
    hands_on_io: bool,
) -> Row {
    let name = plain(completes.unwrap_or(function));
    let halves = |start, wait| if completes.is_some() { wait } else { start };
    match name.as_str() {
        _ if hands_on_io => Row::Io,
        _ if is_group => halves(Row::StartShadow, Row::WaitShadow),
        "Reduce" | "Allreduce" | "Scan" | "Exscan" | "Reduce_scatter" | "Reduce_scatter_block" => {
            halves(Row::StartReduction, Row::WaitReduction)
        }
        "Sendrecv" | "Sendrecv_replace" => halves(Row::StartShadow, Row::WaitShadow),
        name if name.starts_with("Neighbor_") => halves(Row::StartShadow, Row::WaitShadow),
        "Alltoall" | "Alltoallv" | "Alltoallw" | "Gather" | "Gatherv" | "Scatter" | "Scatterv" => {
            Row::Redistribution
        }
        "Allgather" | "Allgatherv" => Row::Redistribution,
        "Barrier" => Row::Barrier,
        "Bcast" => Row::Broadcast,
        "Put" | "Get" | "Accumulate" | "Get_accumulate" | "Fetch_and_op" | "Compare_and_swap" => {
            Row::RemoteAccess
        }
        "Rput" | "Rget" | "Raccumulate" | "Rget_accumulate" => Row::RemoteAccess,
        name if name.starts_with("Win_") => Row::RemoteAccess,
        name if name.starts_with("File_") => Row::Io,
        _ if nature.is_io() => Row::Io,
        _ if nature == Nature::Runtime => Row::Startup,
        _ if nature == Nature::Message => Row::PointToPoint,
        _ => Row::Other,
    }
}

/// How the same call communicates.
pub(super) fn group_of((function, nature): (&str, Nature), completes: Option<&str>) -> Group {
    if is_start(function) {
        return Group::Start;
    }
    let name = plain(completes.unwrap_or(function));
    let is_message = |name: &str| {
        let starts = ["Send", "Ssend", "Bsend", "Rsend", "Recv", "Sendrecv", "Sendrecv_replace", "Mrecv"];
        starts.contains(&name) || matches!(name, "Start" | "Startall" | "Mprobe" | "Improbe")
    };
    match (nature, completes) {
        (Nature::Message, None) => Group::SendRecv,
        (Nature::Message, Some(_)) if is_message(&name) => Group::SendRecv,
        (Nature::Message, Some(_))
            if name.starts_with("File_")
                || name.starts_with('R') && name != "Reduce" && !name.starts_with("Reduce_") =>
        {
            Group::None
        }
        (Nature::Message, Some(_)) | (Nature::Collective, _) => {
            let name = name.strip_prefix("Neighbor_").map_or(name.clone(), |rest| {
                rest.chars().take(1).flat_map(char::to_uppercase).chain(rest.chars().skip(1)).collect()
            });
            match name.as_str() {
                "Alltoall" | "Alltoallv" | "Alltoallw" => Group::AllToAll,
                name if name.starts_with("Win_") => Group::None,
                _ => Group::CollectiveAll,
            }
        }
        _ => Group::None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_call_has_one_row() {
        let row = |function, nature| row_of((function, nature), None, false, false);
        for (function, nature, expected) in [
            ("MPI_Allreduce", Nature::Collective, Row::StartReduction),
            ("MPI_Ireduce_scatter_block", Nature::Collective, Row::StartReduction),
            ("MPI_Exscan", Nature::Collective, Row::StartReduction),
            ("MPI_Sendrecv", Nature::Message, Row::StartShadow),
            ("MPI_Neighbor_alltoallw", Nature::Collective, Row::StartShadow),
            ("MPI_Ineighbor_allgather", Nature::Collective, Row::StartShadow),
            ("MPI_Rget", Nature::Communicate, Row::RemoteAccess),
            ("MPI_Win_fence", Nature::Collective, Row::RemoteAccess),
            ("MPI_Ialltoallv", Nature::Collective, Row::Redistribution),
            ("MPI_Scatterv", Nature::Collective, Row::Redistribution),
            ("MPI_File_write_at_all", Nature::Write, Row::Io),
            ("MPI_File_iread", Nature::Read, Row::Io),
            ("MPI_Ibarrier", Nature::Collective, Row::Barrier),
            ("MPI_Ibcast", Nature::Collective, Row::Broadcast),
            ("MPI_Bcast_init", Nature::Collective, Row::Broadcast),
            ("MPI_Isend", Nature::Message, Row::PointToPoint),
            ("MPI_Testall", Nature::Message, Row::PointToPoint),
            ("MPI_Init", Nature::Runtime, Row::Startup),
            ("MPI_Init_thread", Nature::Runtime, Row::Startup),
            ("MPI_Comm_split", Nature::Collective, Row::Other),
            ("MPI_Intercomm_create", Nature::Collective, Row::Other),
            ("MPI_Comm_spawn", Nature::Communicate, Row::Other),
        ] {
            assert_eq!(row(function, nature), expected, "{function}");
        }
    }

    /// The rows of the functions in the user guide: in a list below its heading, `- **ROW**: name, name.`
    fn documented() -> BTreeMap<String, Vec<String>> {
        let guide = include_str!("../../../../docs/pages/characteristics.md");
        let (_, section) = guide.split_once("## Every function of MPI by its row\n").expect("the section");
        let (section, _) = section.split_once("\n## ").expect("another one behind it");
        let of_row = |row: &str| {
            let (name, functions) = row.split_once("**: ").expect("a row and its functions");
            let functions = functions.split([',', '.', '\n', ' ']).filter(|word| !word.is_empty());
            (name.to_owned(), functions.map(|word| format!("MPI_{word}")).collect())
        };
        section.split("\n- **").skip(1).map(of_row).collect()
    }

    #[test]
    fn the_guide_has_every_function_in_its_row() {
        use proust_log::operations::Operation;
        let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for operation in Operation::ALL.iter().filter(|one| one.name().starts_with("MPI_")) {
            let kind = proust_ingest::operation_info(operation.name()).kind.expect("it is known");
            let row = row_of((operation.name(), kind.nature), None, false, false);
            rows.entry(row.name().to_owned()).or_default().push(operation.name().to_owned());
        }
        assert!(rows.values().map(Vec::len).sum::<usize>() > 200, "{rows:?}");
        assert_eq!(documented(), rows);
    }

    #[test]
    fn a_wait_belongs_to_what_it_completes() {
        let wait = |completes, is_group| row_of(("MPI_Waitall", Nature::Message), completes, is_group, false);
        assert_eq!(wait(Some("MPI_Irecv"), true), Row::WaitShadow);
        assert_eq!(wait(Some("MPI_Irecv"), false), Row::PointToPoint);
        assert_eq!(wait(Some("MPI_Iallreduce"), false), Row::WaitReduction);
        assert_eq!(wait(Some("MPI_Ibarrier"), false), Row::Barrier);
        assert_eq!(wait(Some("MPI_File_iread_all"), false), Row::Io);
        assert_eq!(wait(Some("MPI_Rput"), false), Row::RemoteAccess);
        assert_eq!(wait(None, false), Row::PointToPoint);
        assert_eq!(row_of(("MPI_Irecv", Nature::Message), None, true, false), Row::StartShadow);
        assert_eq!(row_of(("MPI_Bcast", Nature::Collective), None, false, true), Row::Io);
    }

    #[test]
    fn the_other_analyzer_has_groups_of_its_own() {
        let group = |function, nature, completes| group_of((function, nature), completes);
        assert_eq!(group("MPI_Send", Nature::Message, None), Group::SendRecv);
        assert_eq!(group("MPI_Isend", Nature::Message, None), Group::Start);
        assert_eq!(group("MPI_Startall", Nature::Message, None), Group::Start);
        assert_eq!(group("MPI_Iallreduce", Nature::Collective, None), Group::Start);
        assert_eq!(group("MPI_Wait", Nature::Message, Some("MPI_Irecv")), Group::SendRecv);
        assert_eq!(group("MPI_Wait", Nature::Message, Some("MPI_Start")), Group::SendRecv);
        assert_eq!(group("MPI_Wait", Nature::Message, Some("MPI_Iallreduce")), Group::CollectiveAll);
        assert_eq!(group("MPI_Wait", Nature::Message, Some("MPI_Ireduce")), Group::CollectiveAll);
        assert_eq!(group("MPI_Wait", Nature::Message, Some("MPI_Ialltoall")), Group::AllToAll);
        assert_eq!(group("MPI_Wait", Nature::Message, Some("MPI_Rput")), Group::None);
        assert_eq!(group("MPI_Barrier", Nature::Collective, None), Group::CollectiveAll);
        assert_eq!(group("MPI_Neighbor_alltoall", Nature::Collective, None), Group::AllToAll);
        assert_eq!(group("MPI_Neighbor_allgather", Nature::Collective, None), Group::CollectiveAll);
        assert_eq!(group("MPI_Iprobe", Nature::Message, None), Group::SendRecv);
        assert_eq!(group("MPI_Init", Nature::Runtime, None), Group::None);
        assert_eq!(group("MPI_Put", Nature::Communicate, None), Group::None);
        assert_eq!(group("MPI_Win_fence", Nature::Collective, None), Group::None);
    }
}
