//! The run's folder: made before the command starts, never written over.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use proust_log::control::{
    BEGIN_PAUSED, CALIBRATED, CHECK_PATHS, COLLECTOR_FILE, CONTROL_BYTES, CONTROL_FILE, CONTROL_MAGIC,
    Control, EMPTY_HANDLER, NO_IO, NO_MEMO, NO_MPI_PATHS, NO_WAITS, OFF, SWITCHES_AT, Switches,
};
use proust_log::layout::{LOG_FOLDER, VERSION};
use proust_profile::run_file::{RunFile, SCHEMA};
use zerocopy::IntoBytes;

use super::launcher::Recorded;
use super::stolen::Stolen;
use super::{OnOff, RecordArgs, Source, job};
use crate::clock::monotonic_ns;
use crate::control::at_start;
use crate::control_group::{ControlGroup, Throttled};

/// The collector library, built by the build script.
static COLLECTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libproust_collector.so"));

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// What is written at once.
const PIECE_BYTES: usize = 64 << 10;

/// How long a rank waits for the one that makes the folder.
const JOIN_TIMEOUT: Duration = Duration::from_secs(10);

/// A run's folder.
#[derive(Debug)]
pub struct RunFolder {
    /// As the user will want to name it.
    pub shown: PathBuf,
    /// Absolute.
    pub path: PathBuf,
    /// The collector library that the command shall load.
    pub library: PathBuf,
    /// Whether this process made the folder, and not another rank of its job.
    pub created: bool,
    /// When the recording began.
    pub start: Instant,
    /// The processor time that the host of a virtual machine takes from then on.
    pub stolen: Stolen,
    /// For how long its control group had no processor time left.
    pub throttled: Throttled,
    elsewhere: Option<PathBuf>,
    /// The identity of this folder.
    identity: Option<(u64, u64)>,
}

/// Device and number of a folder that is no link.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.symlink_metadata().ok().filter(fs::Metadata::is_dir)?;
    Some((metadata.dev(), metadata.ino()))
}

impl RunFolder {
    /// Whether the folder is still the one that was made, and not another one, or a link, in its place.
    pub fn is_in_place(&self) -> bool {
        self.identity.is_some() && identity(&self.path) == self.identity
    }

    /// Makes the folder, or joins the one that another rank of the same job made.
    pub fn create_or_join(args: &RecordArgs) -> anyhow::Result<RunFolder> {
        let key = job::key();
        match &args.output {
            None => Self::create_numbered(args, key),
            Some(path) => match make(path) {
                Ok(()) => Self::fill(path, args, key),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match key {
                    Some(key) => Self::join(path, &key),
                    None => bail!(
                        "{} exists already; a run is never written over: name another folder with -o, or \
                         remove it",
                        path.display()
                    ),
                },
                Err(error) => Err(cannot_make(path, error)),
            },
        }
    }

    fn create_numbered(args: &RecordArgs, key: Option<String>) -> anyhow::Result<RunFolder> {
        let name = Path::new(&args.command[0]).file_name().unwrap_or(OsStr::new("run")).to_string_lossy();
        if key.is_some() {
            bail!("ranks started by a launcher must name one folder for all of them: add -o DIR");
        }
        for number in 1_u32.. {
            let path = PathBuf::from(format!("{name}.{number}.proust"));
            match make(&path) {
                Ok(()) => return Self::fill(&path, args, None),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_make(&path, error)),
            }
        }
        bail!("there is no free folder name {name}.N.proust")
    }

    fn fill(shown: &Path, args: &RecordArgs, key: Option<String>) -> anyhow::Result<RunFolder> {
        let folder = Self::write_contents(shown, args, key);
        if folder.is_err() {
            // Made just now, and of no use to anybody.
            let _ = fs::remove_dir_all(shown);
        }
        folder
    }

    fn write_contents(shown: &Path, args: &RecordArgs, key: Option<String>) -> anyhow::Result<RunFolder> {
        let path = shown.canonicalize().with_context(|| format!("{} cannot be used", shown.display()))?;
        let start = Instant::now();
        make(&path.join(LOG_FOLDER)).map_err(|error| cannot_make(&path.join(LOG_FOLDER), error))?;
        let (library, elsewhere) = place_collector(&path)?;
        RunFile {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            start_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            start_monotonic_ns: monotonic_ns(),
            host: host_name(),
            governors: governors(),
            asked_rate_hz: args.options.rate,
            budget_bytes: args.options.max_size,
            launcher: job::launcher().map(|launcher| launcher.process),
            job_key: key,
            notes: Vec::new(),
            finished: None,
            stops: Vec::new(),
            pauses: Vec::new(),
        }
        .write(&path)?;
        // Last: ranks that join wait for it.
        write_control(&path, args)?;
        let identity = identity(&path);
        Ok(RunFolder {
            shown: shown.to_path_buf(),
            path,
            library,
            created: true,
            start,
            stolen: Stolen::since_now(),
            throttled: Throttled::since_now(),
            elsewhere,
            identity,
        })
    }

    fn join(shown: &Path, key: &str) -> anyhow::Result<RunFolder> {
        let start = Instant::now();
        let path = shown.canonicalize().with_context(|| format!("{} cannot be used", shown.display()))?;
        while !path.join(CONTROL_FILE).exists() {
            if start.elapsed() > JOIN_TIMEOUT {
                bail!(
                    "{} exists already and is no run of this job; name another folder with -o",
                    shown.display()
                );
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let run = RunFile::read(&path)?;
        let recorded = Recorded {
            is_of_this_host: run.host == host_name(),
            launcher: run.launcher,
            start_unix_s: run.start_unix_s,
            end_unix_s: run.finished.map(|finished| finished.end_unix_s),
        };
        let is_older = job::launcher().is_some_and(|launcher| recorded.is_before(&launcher));
        if run.job_key.as_deref() != Some(key) || is_older {
            bail!(
                "{} holds another run ({}); a run is never written over: name another folder with -o",
                shown.display(),
                run.command.join(" ")
            );
        }
        let library = path.join(COLLECTOR_FILE);
        let identity = identity(&path);
        Ok(RunFolder {
            shown: shown.to_path_buf(),
            path,
            library,
            created: false,
            start,
            stolen: Stolen::since_now(),
            throttled: Throttled::since_now(),
            elsewhere: None,
            identity,
        })
    }

    /// Removes the files made for a command that did not start.
    pub fn remove(&self) {
        if self.created {
            if self.is_in_place() {
                let _ = fs::remove_dir_all(&self.path);
            }
            self.tidy();
        }
    }

    /// Removes the files outside of the run's folder.
    pub fn tidy(&self) {
        if let Some(folder) = &self.elsewhere {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Makes a folder for its owner alone, whatever the mask of permissions: a recording shows what its user's
/// programs do.
pub fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER_MODE).create(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE))
}

fn cannot_make(path: &Path, error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context(format!(
        "{} cannot be made; choose with -o a folder in a place that can be written",
        path.display()
    ))
}

/// The library's place: the run's folder, or, where the dynamic linker could not read that path in a list
/// separated by spaces and colons, a folder of its own that is removed at the end.
fn place_collector(folder: &Path) -> anyhow::Result<(PathBuf, Option<PathBuf>)> {
    let plain = !folder.as_os_str().as_bytes().iter().any(|byte| b" \t\n:;".contains(byte) || *byte == b'$');
    let (place, elsewhere) = if plain {
        (folder.to_path_buf(), None)
    } else {
        let place = std::env::temp_dir().join(format!("proust-{}-{}", std::process::id(), monotonic_ns()));
        make(&place).map_err(|error| cannot_make(&place, error))?;
        (place.clone(), Some(place))
    };
    let library = place.join(COLLECTOR_FILE);
    write_new(&library, COLLECTOR)?;
    Ok((library, elsewhere))
}

fn write_control(folder: &Path, args: &RecordArgs) -> anyhow::Result<()> {
    // Where a signal resumes, each process is paused by itself.
    let by_signal = args.start_paused && args.pause_signal.is_some();
    let is_paused = args.start_paused && !by_signal || args.delay.is_some();
    let options = [
        (args.options.check_paths, CHECK_PATHS),
        (args.options.empty_handler, EMPTY_HANDLER),
        (args.options.no_memo, NO_MEMO),
        (args.options.mpi_paths == OnOff::Off, NO_MPI_PATHS),
        (args.options.without.contains(&Source::Locks), NO_WAITS),
        (args.options.without.contains(&Source::Io), NO_IO),
        (is_paused, OFF),
        (by_signal, BEGIN_PAUSED),
    ];
    let control = Control {
        magic: CONTROL_MAGIC,
        version: VERSION,
        rate_hz: args.options.rate,
        budget_bytes: args.options.max_size,
        options: options.iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum(),
        quota_milli: ControlGroup::of_this_process().quota_milli().unwrap_or(0),
        filters: filters(),
        sample_signal: args.sample_signal.unwrap_or(0),
        pause_signal: args.pause_signal.unwrap_or(0),
        sync_threshold_ns: args.options.sync_threshold.unwrap_or(CALIBRATED),
        ..Control::default()
    };
    let mut page = vec![0; CONTROL_BYTES];
    page[..size_of::<Control>()].copy_from_slice(control.as_bytes());
    page[SWITCHES_AT..][..size_of::<Switches>()].copy_from_slice(at_start(is_paused).as_bytes());
    // Renamed into place, so that a rank which joins never sees half of it.
    let draft = folder.join("control.new");
    write_new(&draft, &page)?;
    fs::rename(&draft, folder.join(CONTROL_FILE))
        .with_context(|| format!("{} cannot be written", folder.join(CONTROL_FILE).display()))
}

/// System call filters that this process, and so every process of the run, runs under.
fn filters() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
        .and_then(|mut file| {
            file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
            write_by_pieces(&mut file, bytes)
        })
        .with_context(|| format!("{} cannot be written; is the disk full?", path.display()))
}

/// The collector's bytes were not touched before: the kernel would stumble over each of their pages, and fill
/// the file's with zeros first. A copy that fits the processor's cache is at hand.
fn write_by_pieces(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let mut copy = Vec::with_capacity(PIECE_BYTES.min(bytes.len()));
    for piece in bytes.chunks(PIECE_BYTES) {
        copy.clear();
        copy.extend_from_slice(piece);
        file.write_all(&copy)?;
    }
    Ok(())
}

/// The governors of the processors that this process may run on, each once.
fn governors() -> Vec<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed =
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("").trim();
    let mut found: Vec<String> = allowed.split(',').flat_map(numbers).filter_map(governor).collect();
    found.sort();
    found.dedup();
    found
}

/// The numbers of `3` or `0-7`.
fn numbers(range: &str) -> std::ops::RangeInclusive<u32> {
    let (from, to) = range.split_once('-').unwrap_or((range, range));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) => from..=to,
        _ => std::ops::RangeInclusive::new(1, 0),
    }
}

fn governor(processor: u32) -> Option<String> {
    let path = format!("/sys/devices/system/cpu/cpu{processor}/cpufreq/scaling_governor");
    Some(fs::read_to_string(path).ok()?.trim().to_owned()).filter(|name| !name.is_empty())
}

fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).unwrap_or_default()
}
