//! Running a command as a user would, but never waiting for ever.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use crate::schema;

/// Longer than any story takes on a machine that is busy with others; what takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(240);

/// A command that ended.
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub wall_s: f64,
    /// Of the command and of all that it waited for.
    pub cpu_s: f64,
    /// What the host of this virtual machine took of all processors meanwhile; 0 on a machine of metal.
    pub stolen_s: f64,
}

impl Ended {
    /// What it said on stderr.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// What it printed on stdout.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// A command that is running, in a process group of its own.
pub struct Running {
    child: Child,
    shown: String,
    /// Of `proust` itself; else none.
    arguments: Vec<String>,
    begun: Instant,
    stolen_before_s: f64,
    stdout: File,
    stderr: File,
}

/// The `proust` command under test.
pub fn proust() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proust"));
    command.env_remove("PROUST_RUN").env("NO_COLOR", "1");
    command
}

/// A shell without job control has what it starts in the background ignore these, and so would all commands
/// of stories.
fn heed_the_keyboard() {
    static ONCE: Once = Once::new();
    // SAFETY: default actions, set before the first command starts; the test's own process needs no handler
    // for them.
    ONCE.call_once(|| unsafe {
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_DFL);
        }
    });
}

/// Starts a command. Its streams go to files, so that neither a full pipe nor a child that lives on can hold
/// it up.
pub fn start(command: &mut Command) -> Running {
    heed_the_keyboard();
    let stdout = tempfile::tempfile().expect("a temporary file");
    let stderr = tempfile::tempfile().expect("a temporary file");
    command.stdout(stdout.try_clone().expect("a second handle"));
    command.stderr(stderr.try_clone().expect("a second handle"));
    let shown = format!("{command:?}");
    let is_proust = command.get_program() == env!("CARGO_BIN_EXE_proust");
    let arguments = command.get_args().filter(|_| is_proust).map(|arg| arg.to_string_lossy().into_owned());
    let arguments = arguments.collect();
    let (begun, stolen_before_s) = (Instant::now(), stolen_s());
    let child = command.process_group(0).spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
    Running { child, shown, arguments, begun, stolen_before_s, stdout, stderr }
}

/// Runs a command to its end, without input.
pub fn run(command: &mut Command) -> Ended {
    start(command.stdin(Stdio::null())).wait()
}

impl Running {
    /// The process started.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// What it has printed on stdout until now.
    pub fn printed_so_far(&self) -> String {
        String::from_utf8_lossy(&from_start(&self.stdout)).into_owned()
    }

    /// Waits for the end; a command that outlives the deadline is killed, with all that it started.
    pub fn wait(self) -> Ended {
        let begun = Instant::now();
        let (status, cpu_s) = loop {
            if let Some(ended) = self.has_ended() {
                break ended;
            }
            if begun.elapsed() > DEADLINE {
                // SAFETY: signals the group this harness made for the command.
                unsafe { libc::kill(-self.pid(), libc::SIGKILL) };
                panic!("still running after {DEADLINE:?}: {}", self.shown);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let stdout = from_start(&self.stdout);
        if status.success() {
            schema::check(&self.arguments, &stdout);
        }
        Ended {
            status,
            stdout,
            stderr: from_start(&self.stderr),
            wall_s: self.begun.elapsed().as_secs_f64(),
            cpu_s,
            stolen_s: stolen_s() - self.stolen_before_s,
        }
    }

    /// How it ended and the CPU seconds it took, once it has.
    fn has_ended(&self) -> Option<(ExitStatus, f64)> {
        let mut status = 0;
        // SAFETY: all-zero is a valid usage; the places live until after the call. Nobody else waits for the
        // child.
        let (pid, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(self.pid(), &raw mut status, libc::WNOHANG, &raw mut usage), usage)
        };
        assert!(pid >= 0, "the state of a child: {}", std::io::Error::last_os_error());
        let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
        (pid > 0).then(|| (ExitStatus::from_raw(status), seconds(usage.ru_utime) + seconds(usage.ru_stime)))
    }
}

/// What was stolen of all processors since the machine started: the eighth number of the first line
/// (proc(5)).
fn stolen_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks: f64 = stat.split_whitespace().nth(8).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    // SAFETY: no pointers are passed.
    ticks / unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64
}

/// All of a file that the command wrote through another handle.
fn from_start(file: &File) -> Vec<u8> {
    let length = file.metadata().expect("its length").len();
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, 0).expect("what the command wrote");
    bytes
}
