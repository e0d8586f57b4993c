//! Processor time in functions of libraries that clear, copy and allocate memory, that look for the end of a
//! text, that prepare something for many uses, that throw exceptions, or that settle which thread executes a
//! `single`.
//!
//! These functions have callers in the program, and what they do there may be needed or not: a finding of
//! these kinds is possible at most. What the kernel does meanwhile for memory that is touched for the first
//! time is not counted here.

use std::collections::BTreeSet;

use proust_profile::{ContextId, Function, FunctionId, LocationId, Metric, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks, Threshold};
use proust_account::ledger::Account;

/// What the functions of a sort do.
struct Sort {
    kind: Kind,
    /// Whether a function does it.
    does: fn(&Function) -> bool,
    /// The least share of the processor time.
    limit: &'static Threshold<f64>,
    figure: FigureId,
    /// Whether what these functions call counts as well.
    below: bool,
    /// Which calls count together.
    together: Together,
}

/// Calls that are one finding.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Together {
    /// Those of a line.
    Line,
    /// Those of a function.
    Function,
    /// All of the run: what the function costs shows in others, too.
    Run,
}

const SORTS: [Sort; 8] = [
    Sort {
        kind: Kind::MemoryClearing,
        does: |function| is_variant_of(&function.name, &CLEAR),
        limit: &limits::CLEARING,
        figure: FigureId::CpuOfClearing,
        below: false,
        together: Together::Line,
    },
    Sort {
        kind: Kind::MemoryCopying,
        does: |function| is_variant_of(&function.name, &COPY),
        limit: &limits::COPYING,
        figure: FigureId::CpuOfCopying,
        below: false,
        together: Together::Line,
    },
    Sort {
        kind: Kind::MemoryCopying,
        does: |function| function.name == "deepcopy" && function.is_of_pythons_library(),
        limit: &limits::COPYING,
        figure: FigureId::CpuOfCopying,
        below: true,
        together: Together::Line,
    },
    Sort {
        kind: Kind::AllocationChurn,
        does: |function| allocates(&function.name),
        limit: &limits::ALLOCATING,
        figure: FigureId::CpuOfAllocating,
        below: true,
        together: Together::Function,
    },
    Sort {
        kind: Kind::TextScanning,
        does: |function| is_variant_of(&function.name, &SCAN),
        limit: &limits::SCANNING,
        figure: FigureId::CpuOfScanning,
        below: false,
        together: Together::Line,
    },
    Sort {
        kind: Kind::OmpHotSingle,
        does: |function| SINGLE.contains(&&*function.name),
        limit: &limits::SINGLE_COST,
        figure: FigureId::CpuOfSingle,
        below: true,
        together: Together::Function,
    },
    Sort {
        kind: Kind::RepeatedPreparation,
        does: prepares,
        limit: &limits::PREPARING,
        figure: FigureId::CpuOfPreparing,
        below: true,
        together: Together::Line,
    },
    Sort {
        kind: Kind::ExceptionChurn,
        does: |function| THROW.contains(&&*function.name),
        limit: &limits::THROWING,
        figure: FigureId::CpuOfThrowing,
        below: true,
        together: Together::Run,
    },
];

/// Functions that clear memory, and that copy it, without what comes before and behind their names: the C
/// library has one for each sort of processor.
const CLEAR: [&str; 3] = ["memset", "bzero", "explicit_bzero"];
const COPY: [&str; 3] = ["memcpy", "memmove", "mempcpy"];

/// Functions that allocate and free memory, of the C library and of those that stand in for it.
const ALLOCATE: [&str; 17] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "cfree",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "_int_malloc",
    "_int_free",
    "malloc_consolidate",
    "operator new",
    "operator new[]",
    "operator delete",
    "operator delete[]",
    "__libc_free",
];
/// What such functions of Rust have in their names.
const ALLOCATE_PARTS: [&str; 3] = ["__rust_alloc", "__rust_dealloc", "__rust_realloc"];

/// Functions that go on to the end of a text: `sscanf` looks for it by the second.
const SCAN: [&str; 4] = ["strlen", "rawmemchr", "strcat", "wcslen"];

/// What threads call to settle which of them executes a `single`.
const SINGLE: [&str; 4] =
    ["GOMP_single_start", "GOMP_single_copy_start", "__kmpc_single", "__kmpc_end_single"];

/// What throws an exception and goes on to who catches it: of C++, and of the unwinder, which Rust uses too.
const THROW: [&str; 6] = [
    "__cxa_allocate_exception",
    "__cxa_throw",
    "__cxa_rethrow",
    "_Unwind_RaiseException",
    "_Unwind_Resume_or_Rethrow",
    GO_ON,
];
/// Called by each frame on the way that has something to destroy: it does not show who threw.
const GO_ON: &str = "_Unwind_Resume";

/// How the names of functions begin that prepare something for many uses: of the C library, PCRE, OpenSSL,
/// SQLite, FFTW, of C++ and of Rust's `regex`.
const PREPARE: [&str; 16] = [
    "regcomp",
    "iconv_open",
    "pcre_compile",
    "pcre2_compile",
    "EVP_MD_fetch",
    "EVP_CIPHER_fetch",
    "SSL_CTX_new",
    "sqlite3_prepare",
    "fftw_plan_",
    "fftwf_plan_",
    "std::__detail::_Compiler<",
    "std::regex_traits<",
    "std::__cxx11::basic_regex<",
    "std::__cxx11::regex_traits<",
    "regex::regex::string::Regex::new",
    "regex_automata::meta::regex::Builder::build",
];
/// The same in Python's library: function and end of its file.
const PREPARE_IN_PYTHON: [(&str, &str); 2] =
    [("compile", "/re/_compiler.py"), ("compile", "/sre_compile.py")];

fn prepares(function: &Function) -> bool {
    let file = function.file.as_deref().unwrap_or_default();
    let begins = |name: &str| PREPARE.iter().any(|part| name.trim_start_matches('_').starts_with(part));
    begins(&function.name)
        || begins(&function.full_name)
        || PREPARE_IN_PYTHON.iter().any(|&(one, end)| function.name == one && file.ends_with(end))
}

fn is_variant_of(name: &str, of: &[&str]) -> bool {
    let name = name.trim_start_matches('_');
    of.iter().any(|of| name.strip_prefix(of).is_some_and(|rest| !rest.starts_with(char::is_alphabetic)))
}

fn allocates(name: &str) -> bool {
    ALLOCATE.contains(&name) || ALLOCATE_PARTS.iter().any(|part| name.contains(part))
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    SORTS.iter().flat_map(|sort| of_sort(facts, sort)).collect()
}

fn of_sort(facts: &Facts<'_>, sort: &Sort) -> Vec<Finding> {
    // A function is on many paths.
    let does: Vec<bool> = facts.profile.functions.iter().map(sort.does).collect();
    if !does.contains(&true) {
        return Vec::new();
    }
    let mut by_place: FxHashMap<(Option<FunctionId>, Option<u32>), Vec<ContextId>> = FxHashMap::default();
    for context in facts.profile.contexts.keys() {
        if facts.cpu[context.index()].is_positive() && is_called(facts, sort, &does, context) {
            let (function, line) = facts.places.line_key(context);
            let place = match sort.together {
                Together::Line => (function, line),
                Together::Function => (function, None),
                Together::Run => (None, None),
            };
            by_place.entry(place).or_default().push(context);
        }
    }
    by_place.into_values().filter_map(|contexts| much(facts, sort, &contexts)).collect()
}

/// Whether it is in a function of the sort that the program calls itself.
fn is_called(facts: &Facts<'_>, sort: &Sort, does: &[bool], context: ContextId) -> bool {
    let does = match sort.below {
        true => facts.places.calls_function_below_own(context, |id| does[id.index()]),
        false => facts.places.leaf_id(context).is_some_and(|id| does[id.index()]),
    };
    does && facts.places.start(context).is_some()
}

fn much(facts: &Facts<'_>, sort: &Sort, contexts: &[ContextId]) -> Option<Finding> {
    let user =
        |context: ContextId| (facts.cpu[context.index()] - facts.system[context.index()]).max(Ns::ZERO);
    let lost: Ns = contexts.iter().map(|&context| user(context)).sum();
    let share = lost / facts.all_cpu.max(Ns::SHORTEST);
    let error = facts.error(contexts.iter().copied());
    let mut checks = Checks::default();
    if !checks.holds(sort.limit, share)
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let goes_on = |context: ContextId| {
        let name = |id: FunctionId| &facts.profile.functions[id].name;
        sort.together == Together::Run
            && facts.places.calls_function_below_own(context, |id| name(id) == GO_ON)
    };
    let named = contexts.iter().filter(|context| !goes_on(**context));
    let (at_line, worst) = facts.heaviest_line(named.map(|&context| (context, user(context))))?;
    let by = facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    let by = by.filter(|value| contexts.contains(&value.context)).map(|value| value.location);
    let by: BTreeSet<LocationId> = by.collect();
    let cause = facts.located(facts.places.place(worst), by.iter().copied());
    let mut finding = facts.finding(sort.kind, Account::Compute, lost, lost, cause);
    finding.error = error;
    finding.evidence = vec![
        Figure::share(FigureId::ShareOfCpu, share),
        Figure::time(sort.figure, lost),
        Figure::count(FigureId::ThreadsThatDidIt, by.len() as f64),
    ];
    if sort.together == Together::Run {
        finding.evidence.push(Figure::time(FigureId::OfItAtLine, at_line));
    }
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
