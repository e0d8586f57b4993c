//! Findings of MPI: each in a program that has its fault, with the ranks and the function at fault; and none
//! that is more than possible in the same program repaired, or where all ranks do the same.

use serde_json::Value;

use crate::findings::{assert_cause, assert_derived, of_kind};
use crate::mpi::Mpi;
use crate::recording::{Recorded, list, number};
use crate::tier;

/// The kinds that this story is about.
pub const KINDS: [&str; 13] = [
    "mpi-late-sender",
    "mpi-late-receiver",
    "mpi-imbalance",
    "mpi-serial-phase",
    "mpi-serial-chain",
    "mpi-small-messages",
    "mpi-groupable-collectives",
    "mpi-repeated-setup",
    "mpi-idle-rank",
    "mpi-small-accesses",
    "mpi-much-data",
    "mpi-polls",
    "mpi-wrong-order",
];

/// A fault of the program `findings`.
struct Fault {
    case: &'static str,
    kind: &'static str,
    account: &'static str,
    /// The function that is named; and those of its ranks that are.
    function: &'static str,
    late: &'static [u64],
    ranks: u32,
    seconds: &'static str,
    sure: &'static str,
    /// The least part of the program's own figure that is found.
    least: f64,
}

const FAULTS: [Fault; 14] = [
    Fault { late: &[0], ..late("mpi-late-sender", "prepare") },
    Fault { late: &[1], ..late("mpi-late-receiver", "prepare") },
    Fault { late: &[1], ..late("mpi-imbalance", "prepare") },
    Fault { late: &[0], ..late("mpi-serial-phase", "read_input") },
    Fault {
        case: "mpi-serial-phase-last",
        account: "runtime",
        late: &[0],
        ..late("mpi-serial-phase", "write_output")
    },
    Fault { late: &[0, 1], least: 0.5, ..late("mpi-serial-chain", "one_after_the_other") },
    Fault { account: "mpi-transfer", least: 0.1, ..late("mpi-small-messages", "value_by_value") },
    Fault {
        account: "mpi-transfer",
        sure: "possible",
        least: 0.1,
        ..late("mpi-groupable-collectives", "sum_by_sum")
    },
    Fault {
        account: "mpi-transfer",
        sure: "possible",
        least: 0.3,
        ..late("mpi-repeated-setup", "sum_in_own")
    },
    Fault { late: &[0], sure: "possible", ..late("mpi-idle-rank", "hand_out") },
    Fault {
        account: "mpi-transfer",
        sure: "possible",
        least: 0.1,
        ..late("mpi-small-accesses", "change_next")
    },
    Fault { account: "mpi-transfer", sure: "possible", least: 0.3, ..late("mpi-much-data", "gather_all") },
    Fault { account: "mpi-transfer", sure: "possible", least: 0.1, ..late("mpi-polls", "look") },
    // Starting three ranks takes a second or two where processors are busy.
    Fault { late: &[1], ranks: 3, seconds: "3", least: 0.5, ..late("mpi-wrong-order", "results_by_rank") },
];

/// Ranks wait for others.
const fn late(kind: &'static str, function: &'static str) -> Fault {
    let (account, sure) = ("mpi-partner", "likely");
    Fault { case: kind, kind, account, function, late: &[], ranks: 2, seconds: "1", sure, least: 0.7 }
}

impl Fault {
    fn starved(&self) -> Starved {
        // By the program's clock a call lasts as well while its rank has no processor.
        let is_by_clock = matches!(self.kind, "mpi-polls" | "mpi-small-accesses");
        if self.account == "mpi-transfer" && !is_by_clock { STARVED_CALLS } else { STARVED }
    }
}

/// The libraries with which a fault, or its repair, is recorded: in turn, and the other way round for the
/// next fault.
fn mpis_of(case: &str, repaired: bool) -> Vec<Mpi> {
    let place = FAULTS.iter().position(|fault| fault.case == case).expect("a fault");
    tier::in_turn(vec![Mpi::Open, Mpi::Mpich], place + usize::from(repaired))
}

/// Accounts, and the part of the total on them from which on a run says nothing.
type Starved = (&'static [&'static str], f64);
/// Who is late is the machine's choice then.
pub const STARVED: Starved = (&["preempted", "oversubscribed"], 0.1);
/// Ranks wait for one that has no processor, and call less often.
const STARVED_CALLS: Starved = (&["preempted", "oversubscribed", "mpi-partner"], 0.3);
const TRIES: usize = 3;

fn found(run: &Recorded) -> Vec<Value> {
    list(&run.page::<Value>("summary", &[]), "/findings").to_vec()
}

/// Records a case until ranks had processors; None, said as `SKIP:`, where they never have.
pub fn recorded(
    mpi: Mpi,
    ranks: u32,
    (seconds, case): (&str, &str),
    (accounts, most): Starved,
) -> Option<Recorded> {
    for _ in 0..TRIES {
        let run = mpi.record_ranks(ranks, "findings", &[seconds, case])?.succeeded();
        let ledger = run.summary().ledger;
        let queued_s: f64 = accounts.iter().map(|account| ledger.account_s(account)).sum();
        if queued_s <= most * ledger.total_s {
            return Some(run);
        }
    }
    println!("SKIP: {case} of {}: its ranks lack processors here", mpi.name());
    None
}

/// What equal ranks wait for each other, since the machine wakes one of them later: of the total at most.
const JITTER: f64 = 0.03;

/// Nothing of MPI is found that is more than possible, and nothing of this kind beyond jitter.
fn assert_nothing(run: &Recorded, kind: &str) {
    let found = found(run);
    let total_s = run.summary().ledger.total_s;
    let is_wrong = |one: &&Value| {
        let name = one["kind"].as_str().unwrap_or_default();
        let is_sure = one["sure"] != "possible";
        name.starts_with("mpi-") && is_sure || name == kind && number(one, "/lost_s") > JITTER * total_s
    };
    assert!(!found.iter().any(|one| is_wrong(&one)), "{kind}: {found:#?}");
}

fn fault(case: &str) -> &Fault {
    FAULTS.iter().find(|fault| fault.case == case).expect("a fault")
}

fn check(case: &str) {
    let fault = fault(case);
    let kind = fault.kind;
    for mpi in mpis_of(case, false) {
        let Some(run) = recorded(mpi, fault.ranks, (fault.seconds, case), fault.starved()) else { continue };
        let all = found(&run);
        let Some(finding) = of_kind(&all, kind) else {
            panic!("{case} of {} is not found: {all:#?} {}", mpi.name(), run.truth());
        };
        assert_eq!((&finding["account"], &finding["sure"]), (&fault.account.into(), &fault.sure.into()));
        assert_cause(finding, fault.function);
        let mut named: Vec<u64> =
            finding["ranks"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        named.sort_unstable();
        assert_eq!(named, fault.late, "{finding:#}");
        let (lost_s, truth_s) = (number(finding, "/lost_s"), number(&run.truth(), "/lost_s"));
        assert!(
            lost_s <= 1.05 * truth_s + 0.05 && lost_s >= fault.least * truth_s - 0.05,
            "{lost_s} s are found, {truth_s} s were lost by the program: {finding:#}"
        );
        assert_derived(&run, finding);
    }
}

fn check_repaired(case: &str) {
    let fault = fault(case);
    for mpi in mpis_of(case, true) {
        let case = format!("{case}-repaired");
        let Some(run) = recorded(mpi, fault.ranks, (fault.seconds, &case), fault.starved()) else { continue };
        assert_nothing(&run, fault.kind);
    }
}

macro_rules! faults {
    ($($name:ident $repaired:ident $kind:literal;)*) => {
        $(
            #[test]
            fn $name() {
                check($kind);
            }

            #[test]
            fn $repaired() {
                check_repaired($kind);
            }
        )*
    };
}

faults! {
    messages_sent_late messages_sent_early "mpi-late-sender";
    messages_received_late messages_received_early "mpi-late-receiver";
    unbalanced_ranks balanced_collectives "mpi-imbalance";
    input_read_by_one_rank input_read_by_all_ranks "mpi-serial-phase";
    output_written_by_one_rank output_written_by_all_ranks "mpi-serial-phase-last";
    ranks_one_after_the_other ranks_all_at_once "mpi-serial-chain";
    many_small_messages few_large_messages "mpi-small-messages";
    one_collective_after_the_other one_collective_for_all "mpi-groupable-collectives";
    communicators_made_for_each_step one_communicator_for_all_steps "mpi-repeated-setup";
    a_rank_that_hands_out_parts ranks_that_know_their_parts "mpi-idle-rank";
    memory_accessed_element_by_element memory_accessed_in_large_pieces "mpi-small-accesses";
    all_gathered_each_step a_little_gathered_each_step "mpi-much-data";
    polls_after_each_step polls_after_many_steps "mpi-polls";
    messages_in_the_wrong_order messages_as_they_come "mpi-wrong-order";
}

#[test]
fn nothing_is_found_where_all_ranks_do_the_same() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let Some(run) = recorded(mpi, 2, ("1", "balanced"), STARVED) else { continue };
        assert_nothing(&run, "none");
    }
}
