//! What is varied, and how a point fills in the command and the environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{SystemTime, UNIX_EPOCH};

use proust_profile::sweep_file::{Axis, RANKS, SWEEP_SCHEMA, SweepFile, SweepPoint, THREADS};

use super::{SweepArgs, surroundings};
use crate::failure::WrongUsage;

/// The placeholder of the count.
const COUNT: &str = "n";

/// The axes of a sweep.
#[derive(Debug)]
pub struct Axes {
    list: Vec<Axis>,
    /// The axis of `{n}`.
    count: Option<usize>,
    command: Vec<String>,
    /// Variables of the environment in which a place is filled in.
    variables: Vec<(String, String)>,
}

impl Axes {
    /// Reads what is varied.
    ///
    /// # Errors
    /// [`WrongUsage`] when nothing is varied, or a value would have no effect.
    pub fn of(args: &SweepArgs) -> Result<Axes, WrongUsage> {
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Axes::with_environment(args, environment)
    }

    fn with_environment(
        args: &SweepArgs,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Axes, WrongUsage> {
        let mut list = Vec::new();
        for (name, counts) in [(RANKS, &args.ranks), (THREADS, &args.threads)] {
            if !counts.is_empty() {
                let mut counts = counts.clone();
                counts.sort_unstable();
                counts.dedup();
                list.push(Axis {
                    name: name.into(),
                    values: counts.iter().map(ToString::to_string).collect(),
                });
            }
        }
        let counts = list.len();
        for text in &args.axes {
            let axis = own(text)?;
            if list.iter().any(|other| other.name == axis.name) || axis.name == COUNT {
                return Err(WrongUsage(format!("the axis `{}` is there already", axis.name)));
            }
            list.push(axis);
        }
        if list.is_empty() {
            return Err(WrongUsage(
                "nothing is varied: give --threads 1,2,4, or --ranks 1,2,4 with {n} in the command".into(),
            ));
        }
        let count = match (counts, list.len()) {
            (1, _) | (0, 1) => Some(0),
            _ => None,
        };
        let command = words(&args.command)?;
        let variables = environment
            .filter(|(_, value)| {
                list.iter().any(|axis| value.contains(&place(&axis.name))) || value.contains("{n}")
            })
            .collect();
        let axes = Axes { list, count, command, variables };
        axes.check()?;
        Ok(axes)
    }

    /// Every axis has an effect, and every place can be filled in.
    fn check(&self) -> Result<(), WrongUsage> {
        let texts = || self.command.iter().chain(self.variables.iter().map(|(_, value)| value));
        let named = |name: &str| texts().any(|text| text.contains(&place(name)));
        if self.count.is_none() && named(COUNT) {
            let names: Vec<String> = self.list.iter().map(|axis| place(&axis.name)).collect();
            return Err(WrongUsage(format!(
                "{{n}} could mean several counts here; write {}",
                names.join(" or ")
            )));
        }
        for (at, axis) in self.list.iter().enumerate() {
            let is_named = named(&axis.name) || (self.count == Some(at) && named(COUNT));
            if axis.name != THREADS && !is_named {
                let example = if axis.name == RANKS { "mpirun -n {n} CMD" } else { "CMD --option {NAME}" };
                return Err(WrongUsage(format!(
                    "{} is varied, but neither the command nor the environment has {}: every run would be \
                     the same; write for example {}",
                    axis.name,
                    place(&axis.name),
                    example.replace("{NAME}", &place(&axis.name)),
                )));
            }
        }
        Ok(())
    }

    /// The sweep as it is to be: all points, repetitions interleaved.
    ///
    /// # Errors
    /// [`WrongUsage`] when the serial reference cannot be read.
    pub fn plan(&self, args: &SweepArgs) -> Result<SweepFile, WrongUsage> {
        let serial = match &args.serial {
            None => None,
            Some(text) => Some(shlex::split(text).filter(|words| !words.is_empty()).ok_or_else(|| {
                WrongUsage(format!("the serial command `{text}` has no words, or a quote that is not closed"))
            })?),
        };
        let mut points = Vec::new();
        for repetition in 1..=args.repeat {
            if let Some(command) = &serial {
                let (command, environment) =
                    (command.clone(), surroundings::counts(Some("1")).into_iter().collect());
                points.push(SweepPoint {
                    serial: true,
                    repetition,
                    command,
                    environment,
                    ..SweepPoint::default()
                });
            }
            points.extend(product(&self.list).into_iter().map(|values| self.point(values, repetition)));
        }
        Ok(SweepFile {
            schema: SWEEP_SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.command.clone(),
            serial,
            axes: self.list.clone(),
            repetitions: args.repeat,
            start_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            host: surroundings::host(),
            available_processors: std::thread::available_parallelism().map_or(0, |n| n.get() as u32),
            binding: surroundings::binding(),
            limit_s: args.timeout.map(|limit| limit.as_secs_f64()),
            notes: surroundings::notes(&self.list),
            points,
        })
    }

    fn point(&self, values: Vec<String>, repetition: u32) -> SweepPoint {
        let threads = self.list.iter().position(|axis| axis.name == THREADS);
        let mut environment: BTreeMap<String, String> =
            surroundings::counts(threads.map(|at| values[at].as_str())).into_iter().collect();
        for (name, value) in &self.variables {
            environment.insert(name.clone(), self.filled(value, &values));
        }
        let command = self.command.iter().map(|word| self.filled(word, &values)).collect();
        SweepPoint { values, repetition, command, environment, ..SweepPoint::default() }
    }

    fn filled(&self, text: &str, values: &[String]) -> String {
        let mut text = text.to_owned();
        for (axis, value) in self.list.iter().zip(values) {
            text = text.replace(&place(&axis.name), value);
        }
        match self.count {
            Some(at) => text.replace(&place(COUNT), &values[at]),
            None => text,
        }
    }
}

fn place(name: &str) -> String {
    format!("{{{name}}}")
}

fn words(command: &[OsString]) -> Result<Vec<String>, WrongUsage> {
    let word = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            WrongUsage(format!(
                "the word {} of the command is no UTF-8, and a sweep could not keep it",
                word.display()
            ))
        })
    };
    command.iter().map(word).collect()
}

/// `NAME=V,V,...`
fn own(text: &str) -> Result<Axis, WrongUsage> {
    let wrong =
        |why: &str| WrongUsage(format!("--axis {text}: {why}; write for example --axis size=100,1000"));
    let (name, values) = text.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Err(wrong("a name has letters, digits, `-` and `_`"));
    }
    let values: Vec<String> = values.split(',').map(str::to_owned).collect();
    if values.iter().any(String::is_empty) {
        return Err(wrong("a value is empty"));
    }
    if values.iter().enumerate().any(|(at, value)| values[..at].contains(value)) {
        return Err(wrong("a value is there twice"));
    }
    Ok(Axis { name: name.to_owned(), values })
}

/// All combinations of values, the last axis fastest.
fn product(axes: &[Axis]) -> Vec<Vec<String>> {
    axes.iter().fold(vec![Vec::new()], |points, axis| {
        let extended =
            |point: &Vec<String>, value: &String| [point.as_slice(), std::slice::from_ref(value)].concat();
        points.iter().flat_map(|point| axis.values.iter().map(move |value| extended(point, value))).collect()
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn args(line: &str) -> SweepArgs {
        let words = ["proust", "sweep"].into_iter().map(str::to_owned).chain(shlex::split(line).unwrap());
        let Command::Sweep(args) = Cli::parse_from(words).command else { panic!("no sweep: {line}") };
        args
    }

    fn axes(line: &str, environment: &[(&str, &str)]) -> Result<Axes, WrongUsage> {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Axes::with_environment(&args(line), environment)
    }

    fn commands(line: &str) -> Vec<String> {
        let plan = axes(line, &[]).unwrap().plan(&args(line)).unwrap();
        plan.points.iter().map(|point| point.command.join(" ")).collect()
    }

    #[test]
    fn repetitions_are_interleaved_and_places_filled_in() {
        assert_eq!(
            commands("--threads 4,1,1 --repeat 2 -- ./a -n{n} x{threads}"),
            ["./a -n1 x1", "./a -n4 x4", "./a -n1 x1", "./a -n4 x4"]
        );
        assert_eq!(
            commands("--ranks 1,2 --repeat 1 --axis size=S,L -- mpirun -n {n} ./a {size}"),
            ["mpirun -n 1 ./a S", "mpirun -n 1 ./a L", "mpirun -n 2 ./a S", "mpirun -n 2 ./a L"]
        );
        assert_eq!(
            commands("--threads 1,2 --repeat 2 --serial './b \"x y\"' -- ./a"),
            ["./b x y", "./a", "./a", "./b x y", "./a", "./a"]
        );
    }

    #[test]
    fn thread_counts_are_set_for_both_worlds_and_other_variables_filled_in() {
        let line = "--threads 2 --repeat 1 -- ./a";
        let axes = axes(line, &[("MINE", "t={n}"), ("OTHER", "{x}")]).unwrap();
        let plan = axes.plan(&args(line)).unwrap();
        let set: Vec<String> =
            plan.points[0].environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(set, ["MINE=t=2", "OMP_NUM_THREADS=2", "RAYON_NUM_THREADS=2"]);
    }

    #[test]
    fn what_would_have_no_effect_is_refused() {
        let refused = |line: &str| axes(line, &[]).unwrap_err().0;
        assert!(refused("-- ./a").contains("nothing is varied"));
        assert!(refused("--ranks 1,2 -- ./a").contains("mpirun -n {n}"));
        assert!(refused("--threads 1 --axis size=1,2 -- ./a").contains("{size}"));
        assert!(refused("--threads 1 --ranks 2 -- ./a {n}").contains("{ranks} or {threads}"));
        assert!(refused("--axis size -- ./a").contains("no `=`"));
        assert!(refused("--axis a=1,1 -- ./a {a}").contains("twice"));
        assert!(refused("--axis a=1, -- ./a {a}").contains("empty"));
        assert!(refused("--threads 1 --axis threads=1 -- ./a").contains("already"));
    }
}
