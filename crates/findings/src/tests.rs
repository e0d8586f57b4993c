//! Each kind of finding on runs made by hand, with its fault and without. Times are milliseconds.

mod common_phases;
mod event_loops;
mod intervals;
mod io_and_kernel;
mod locks;
mod memory;
mod mpi;
mod much_io;
mod openmp;
mod phases;
mod processes;
mod spawning;
mod threads;
mod turns;

use proust_profile::sample_metrics::{SAMPLE_METRICS, amounts_of_sample};
use proust_profile::{
    Context, ContextId, ContextKind, EventRow, Function, FunctionId, Location, LocationId, Module, ModuleId,
    Ns, OperationId, Process, ProcessId, Profile, ReleaseRow, SampleRow, Target, Value,
};

use super::{Finding, Kind, findings};
use proust_ingest::operation_info;
use proust_log::operations::Operation;

const MS: u64 = 1_000_000;

/// A run in the making: one process on two processors. Functions are those of the program, but for those that
/// begin with `libc:`. A path is named by its functions, outermost first; each is called once a line of its
/// caller.
struct Builder {
    profile: Profile,
    events: Vec<EventRow>,
    samples: Vec<SampleRow>,
    releases: Vec<ReleaseRow>,
    end_ms: u64,
}

impl Builder {
    fn new(threads: u32, end_ms: u64) -> Builder {
        let end = Ns::of(end_ms * MS);
        let program =
            Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None };
        let operations = Operation::ALL.iter().map(|operation| operation_info(operation.name())).collect();
        let location = |tid| Location { tid, end, ..Location::default() };
        let module = |path: &str| Module { path: path.into(), ..Module::default() };
        let mut profile = Profile {
            processes: vec![Process { end, available_processors: 2, ..Process::default() }].into(),
            locations: (0..threads).map(location).collect(),
            modules: vec![module("/home/me/solve"), module("/usr/lib/libc.so.6")].into(),
            contexts: vec![program].into(),
            operations,
            ..Profile::default()
        };
        profile.facts.available_processors = 2;
        profile.facts.wall = end;
        Builder { profile, events: Vec::new(), samples: Vec::new(), releases: Vec::new(), end_ms }
    }

    fn function(&mut self, name: &str) -> u32 {
        let (name, module) = name.strip_prefix("libc:").map_or((name, 0), |name| (name, 1));
        let functions = &mut self.profile.functions;
        if let Some(known) = functions.iter().position(|function| function.name == name) {
            return known as u32;
        }
        let line = functions.len() as u32 * 100;
        let file = Some(if module == 0 { "/src/a.c".to_owned() } else { "/src/libc.c".to_owned() });
        functions.push(Function {
            name: name.into(),
            module: Some(ModuleId(module)),
            file,
            line: Some(line),
            ..Function::default()
        });
        functions.len() as u32 - 1
    }

    /// The context of a path such as `main solve`.
    fn path(&mut self, path: &str) -> u32 {
        let mut at = 0;
        for name in path.split(' ') {
            let function = self.function(name);
            let wanted = Some(function);
            let found = self.profile.contexts.iter().position(|context| {
                context.parent == Some(ContextId(at)) && context.function == wanted.map(FunctionId)
            });
            at = match found {
                Some(known) => known as u32,
                None => {
                    let line = self.profile.contexts[ContextId(at)].function.map(|caller| caller.0 * 100 + 7);
                    let file = line.map(|_| "/src/a.c".to_owned());
                    self.profile.contexts.push(Context {
                        parent: Some(ContextId(at)),
                        kind: ContextKind::Frame,
                        function: Some(FunctionId(function)),
                        file,
                        line,
                    });
                    self.profile.contexts.len() as u32 - 1
                }
            };
        }
        at
    }

    /// A thread computes, with a sample every 4 ms.
    fn work(&mut self, location: u32, path: &str, (begin_ms, end_ms): (u64, u64)) -> &mut Builder {
        self.work_with(location, path, (begin_ms, end_ms), 0, 0)
    }

    /// The same, with that part of it in the kernel, and page faults.
    fn work_with(
        &mut self,
        location: u32,
        path: &str,
        (begin_ms, end_ms): (u64, u64),
        system_percent: u64,
        faults: u32,
    ) -> &mut Builder {
        let context = self.path(path);
        let steps = (end_ms - begin_ms).div_ceil(4).max(1);
        let mut before_ns = begin_ms * MS;
        for step in 1..=steps {
            let time_ns = (begin_ms * MS + step * 4 * MS).min(end_ms * MS);
            let cpu_ns = time_ns - before_ns;
            before_ns = time_ns;
            self.samples.push(SampleRow {
                location: LocationId(location),
                context: ContextId(context),
                time_ns,
                cpu_ns,
                user_ns: cpu_ns * (100 - system_percent) / 100,
                system_ns: cpu_ns * system_percent / 100,
                minor_faults: faults / steps as u32,
                // It slept before.
                voluntary_switches: u32::from(step == 1),
                ..SampleRow::default()
            });
        }
        self
    }

    /// A thread is in an operation.
    fn during(
        &mut self,
        location: u32,
        path: &str,
        operation: Operation,
        (begin_ms, end_ms): (u64, u64),
    ) -> &mut EventRow {
        let context = self.path(path);
        let operation = self.number(operation);
        self.events.push(EventRow {
            location: LocationId(location),
            context: ContextId(context),
            operation: OperationId(operation),
            begin_ns: begin_ms * MS,
            end_ns: end_ms * MS,
            time_ns: (end_ms - begin_ms) * MS,
            calls: 1,
            ..EventRow::default()
        });
        self.events.last_mut().unwrap()
    }

    /// Many short calls of an operation, on the processor.
    fn short(
        &mut self,
        location: u32,
        path: &str,
        operation: Operation,
        times: (u64, u64),
        (calls, bytes, time_ms): (u32, u64, u64),
    ) {
        let event = self.during(location, path, operation, times);
        (event.calls, event.bytes, event.time_ns, event.summed) = (calls, bytes, time_ms * MS, true);
        event.target = Target::File;
    }

    fn number(&self, operation: Operation) -> u32 {
        Operation::ALL.iter().position(|&known| known == operation).unwrap() as u32
    }

    /// A thread releases a lock that it had held for so long.
    fn unlock(
        &mut self,
        location: u32,
        path: &str,
        object: u64,
        time_ms: u64,
        held_ms: u64,
    ) -> &mut ReleaseRow {
        let context = self.path(path);
        let operation = self.number(Operation::MutexUnlock);
        self.releases.push(ReleaseRow {
            location: LocationId(location),
            context: ContextId(context),
            operation: OperationId(operation),
            time_ns: time_ms * MS,
            object,
            held_ns: held_ms * MS,
            weight_ns: (held_ms * MS).max(200_000),
            ..ReleaseRow::default()
        });
        self.releases.last_mut().unwrap()
    }

    fn profile(mut self) -> Profile {
        let profile = &mut self.profile;
        profile.samples = self.samples.into();
        profile.releases = self.releases.into();
        profile.segments.sort_by_key(|row| (row.location, row.region, row.operation, row.context));
        let mut cpu_ns = vec![0; profile.locations.len()];
        let mut sums = std::collections::BTreeMap::new();
        for row in profile.samples.iter() {
            cpu_ns[row.location.index()] += row.cpu_ns;
            for (metric, amount) in SAMPLE_METRICS.into_iter().zip(amounts_of_sample(&row)) {
                *sums.entry((row.context, row.location, metric)).or_insert(0) += amount;
            }
        }
        let values = sums.into_iter().filter(|(_, amount)| *amount > 0);
        profile.values = values
            .map(|((context, location, metric), amount)| Value { context, location, metric, amount })
            .collect();
        // What a thread used until an operation ended is known there.
        for (location, cpu_ns) in profile.locations.iter_mut().zip(&cpu_ns) {
            location.cpu = Ns::of(*cpu_ns);
        }
        for event in self.events.iter_mut().filter(|event| !event.summed) {
            let before = profile.samples.iter();
            let before = before.filter(|row| row.location == event.location && row.time_ns <= event.begin_ns);
            event.cpu_clock_ns = Some(before.map(|row| row.cpu_ns).sum());
        }
        profile.events = self.events.into();
        assert!(self.end_ms > 0);
        self.profile.check().unwrap();
        self.profile
    }

    fn findings(self) -> Vec<Finding> {
        findings(&self.profile(), None).unwrap().1
    }
}

/// The finding of a kind; what there is if there is none.
fn one(found: &[Finding], kind: Kind) -> &Finding {
    let kinds: Vec<Kind> = found.iter().map(|finding| finding.kind).collect();
    found
        .iter()
        .find(|finding| finding.kind == kind)
        .unwrap_or_else(|| panic!("{kind:?} is not among {kinds:?}"))
}

fn has(found: &[Finding], kind: Kind) -> bool {
    found.iter().any(|finding| finding.kind == kind)
}

fn cause(finding: &Finding) -> &str {
    finding.cause.function.as_deref().unwrap_or_default()
}

/// `expected` are seconds.
fn near(found: Ns, expected: f64) {
    near_number(found.as_seconds(), expected);
}

fn near_number(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.02 * expected.abs() + 1e-9, "{found} is not {expected}");
}

#[test]
fn a_run_that_works_on_all_processors_has_no_findings() {
    let mut run = Builder::new(2, 1000);
    run.work(0, "main solve", (0, 1000)).work(1, "worker solve", (0, 1000));
    assert_eq!(run.findings(), []);
}

#[test]
fn findings_are_ranked_and_small_ones_are_left_out() {
    let mut run = Builder::new(2, 1000);
    run.work(0, "main read", (0, 400)).work(0, "main write", (400, 500));
    run.work(0, "main solve", (500, 995)).work(1, "worker solve", (500, 995)).work(
        0,
        "main close",
        (995, 1000),
    );
    let found = run.findings();
    assert!(found.len() >= 2 && found.len() <= super::MOST);
    assert!(found.windows(2).all(|pair| pair[0].recoverable >= pair[1].recoverable));
    assert!(found.iter().all(|finding| finding.recoverable >= Ns::of(20 * MS)));
    assert!(found.iter().all(|finding| cause(finding) != "close"), "{found:#?}");
}

/// Both phases of `main` run in a helper that threads use, too: each is named by its call.
#[test]
fn a_phase_that_a_shared_helper_runs_is_the_call_of_the_helper() {
    let mut run = Builder::new(2, 1000);
    run.work(0, "start main repeat read", (0, 400)).work(0, "start main repeat solve", (400, 1000));
    run.work(1, "begin repeat solve", (400, 1000));
    let found = run.findings();
    let serial = one(&found, Kind::SerialPhase);
    let place = (cause(serial), serial.cause.line);
    let main = 100 + 7;
    assert_eq!(place, ("main", Some(main)), "{serial:#?}");
}

/// The same where the helper is generic, and each call is to a function of its own.
#[test]
fn a_generic_helper_is_one_function_whatever_its_types() {
    let mut run = Builder::new(2, 1000);
    run.work(0, "start main repeat<A> read", (0, 400)).work(0, "start main repeat<A> solve", (400, 1000));
    run.work(1, "begin repeat<B> solve", (400, 1000));
    let (a, b) = (run.function("repeat<A>"), run.function("repeat<B>"));
    for (id, full_name) in [(a, "repeat<A>"), (b, "repeat<B>")] {
        let function = &mut run.profile.functions[FunctionId(id)];
        (function.name, function.full_name) = ("repeat".into(), full_name.into());
        function.line = None;
    }
    assert_eq!(cause(one(&run.findings(), Kind::SerialPhase)), "main");
}

#[test]
fn what_could_be_won_is_what_the_processors_had_left() {
    // Alone on a machine of two processors: 0.4 s of the other one were empty. With four threads on it they
    // were not.
    let mut run = Builder::new(2, 1000);
    run.work(0, "main read", (0, 400)).work(0, "main solve", (400, 1000)).work(
        1,
        "worker solve",
        (400, 1000),
    );
    let found = run.findings();
    near(one(&found, Kind::SerialPhase).recoverable, 0.4);
    let mut run = Builder::new(2, 1000);
    run.work(0, "main read", (0, 400)).work(0, "main solve", (400, 1000)).work(
        1,
        "worker solve",
        (400, 1000),
    );
    run.profile.facts.available_processors = 1;
    run.profile.processes[ProcessId(0)].available_processors = 1;
    assert!(!has(&run.findings(), Kind::SerialPhase));
}
