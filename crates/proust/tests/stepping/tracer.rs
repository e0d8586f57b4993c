//! A program that is stopped, stepped and interrupted through ptrace: one thread of it.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

/// Where the program says that it is; the numbers are in rax of `programs/stepped.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The call begins.
    Begin,
    /// It is over, or was left.
    End,
    /// A lap is over; so often something was wrong.
    Checked(i64),
}

/// Why the program stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Mark(Mark),
    /// A single step was made, or a breakpoint was met.
    Stepped,
    /// Before or behind a system call.
    SystemCall,
    Signal(i32),
    /// It is gone: the status that `waitpid` gives.
    Ended(i32),
}

/// Nothing has moved for so long: something waits for ever. The program's late work alone takes seconds, and
/// many times as long on a busy machine.
const LONGEST: Duration = Duration::from_secs(120);

static STOPS: AtomicU64 = AtomicU64::new(0);
static TRACED: AtomicI32 = AtomicI32::new(0);

/// Keeps this thread, and all that it starts, on one processor. A step is a switch between the program and
/// this thread, which is several times as fast where none has to be woken elsewhere. Two runs beside each
/// other mostly take different processors.
pub fn stay_on_one_processor() {
    // SAFETY: sets of this frame; an all-zero one is valid and empty.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        let mine: Vec<usize> =
            (0..libc::CPU_SETSIZE as usize).filter(|&at| libc::CPU_ISSET(at, &set)).collect();
        if let Some(&one) = mine.get(std::process::id() as usize % mine.len().max(1)) {
            let mut only: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(one, &mut only);
            libc::sched_setaffinity(0, size_of_val(&only), &raw const only);
        }
    }
}

/// Kills a program that does not come to its next stop.
pub fn watch() {
    std::thread::spawn(|| {
        let mut last = (0, 0);
        loop {
            std::thread::sleep(LONGEST);
            let now = (STOPS.load(Ordering::Relaxed), TRACED.load(Ordering::Relaxed));
            if now == last && now.1 != 0 {
                eprintln!("the program hangs: it has not come to a stop for {LONGEST:?}");
                // SAFETY: a signal to the child that is traced, which was not waited for yet.
                unsafe { libc::kill(now.1, libc::SIGKILL) };
            }
            last = now;
        }
    });
}

/// The traced program.
pub struct Traced {
    child: Child,
    pid: i32,
}

/// Offset of a debug register in the kernel's `struct user`.
fn debug_register(number: usize) -> usize {
    std::mem::offset_of!(libc::user, u_debugreg) + 8 * number
}

const PTRACE_GETSIGMASK: u32 = 0x420a;

impl Traced {
    /// Starts it, on this thread's processor and without chance in its addresses. None where the system lets
    /// nobody trace.
    pub fn start(program: &Path, arguments: &[&str]) -> Option<Traced> {
        let mut command = Command::new(program);
        command.args(arguments).env("STEPPED_BY_TRACER", "1").stdout(Stdio::piped()).stdin(Stdio::null());
        // SAFETY: system calls only, between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().ok()?;
        let traced = Traced { pid: child.id() as i32, child };
        TRACED.store(traced.pid, Ordering::Relaxed);
        traced.wait();
        let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
        traced.ask(libc::PTRACE_SETOPTIONS, 0, options as usize);
        Some(traced)
    }

    fn ask(&self, request: u32, address: usize, data: usize) -> i64 {
        // SAFETY: the callers pass what the request wants; the child stands.
        unsafe { libc::ptrace(request, self.pid, address, data) }
    }

    fn wait(&self) -> Stop {
        STOPS.fetch_add(1, Ordering::Relaxed);
        let mut status = 0;
        // SAFETY: a child of this process.
        while unsafe { libc::waitpid(self.pid, &mut status, libc::__WALL) } < 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Stop::Ended(-1);
            }
        }
        STOPS.fetch_add(1, Ordering::Relaxed);
        if !libc::WIFSTOPPED(status) {
            return Stop::Ended(status);
        }
        match libc::WSTOPSIG(status) {
            signal if signal == libc::SIGTRAP | 0x80 => Stop::SystemCall,
            libc::SIGTRAP => self.trap(),
            signal => Stop::Signal(signal),
        }
    }

    fn trap(&self) -> Stop {
        // SAFETY: the kernel fills it in.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        self.ask(libc::PTRACE_GETSIGINFO, 0, &raw mut info as usize);
        // An int3 is the kernel's own (SI_KERNEL); steps and breakpoints have codes of their own.
        if info.si_code != 0x80 {
            return Stop::Stepped;
        }
        let registers = self.registers();
        match registers.rax {
            0x5701 => Stop::Mark(Mark::Begin),
            0x5702 => Stop::Mark(Mark::End),
            0x5703 => Stop::Mark(Mark::Checked(registers.rdx as i64)),
            _ => Stop::Signal(libc::SIGTRAP),
        }
    }

    /// Its registers.
    pub fn registers(&self) -> libc::user_regs_struct {
        // SAFETY: the kernel fills it in.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        self.ask(libc::PTRACE_GETREGS, 0, &raw mut registers as usize);
        registers
    }

    /// Puts another value into rax: the program's answer at a mark.
    pub fn answer(&self, rax: u64) {
        let mut registers = self.registers();
        registers.rax = rax;
        self.ask(libc::PTRACE_SETREGS, 0, &raw mut registers as usize);
    }

    /// A word of its memory.
    pub fn word(&self, address: u64) -> u64 {
        self.bytes(address, 8).try_into().map_or(0, u64::from_le_bytes)
    }

    /// Whether a signal of the program would wait now.
    pub fn blocks_signals(&self) -> bool {
        let mut mask = 0_u64;
        self.ask(PTRACE_GETSIGMASK, 8, &raw mut mask as usize);
        mask & 1 << (libc::SIGUSR1 - 1) != 0
    }

    fn go(&self, request: u32, signal: i32) -> Stop {
        self.ask(request, 0, signal as usize);
        self.wait()
    }

    /// Goes on, and `signal` is delivered, if it is not 0.
    pub fn go_on(&self, signal: i32) -> Stop {
        self.go(libc::PTRACE_CONT, signal)
    }

    /// Makes one step. The sampling signal is kept back: every lap is to be the same.
    pub fn step(&self) -> Stop {
        loop {
            match self.go(libc::PTRACE_SINGLESTEP, 0) {
                Stop::Signal(libc::SIGURG | libc::SIGCHLD) => {}
                stop => return stop,
            }
        }
    }

    /// Goes on to the next begin or end of a system call.
    pub fn to_system_call(&self) -> Stop {
        loop {
            match self.go(libc::PTRACE_SYSCALL, 0) {
                Stop::Signal(libc::SIGURG | libc::SIGCHLD) => {}
                stop => return stop,
            }
        }
    }

    /// Goes on until this thread is about to execute what is at `address` with that stack pointer.
    pub fn run_to(&self, address: u64, sp: u64) -> Stop {
        self.ask(libc::PTRACE_POKEUSER, debug_register(0), address as usize);
        self.ask(libc::PTRACE_POKEUSER, debug_register(7), 1);
        let stop = loop {
            match self.go(libc::PTRACE_CONT, 0) {
                Stop::Signal(libc::SIGURG | libc::SIGCHLD) => {}
                Stop::Stepped if self.registers().rsp != sp => {}
                stop => break stop,
            }
        };
        self.ask(libc::PTRACE_POKEUSER, debug_register(7), 0);
        stop
    }

    /// Kills it.
    pub fn kill(mut self) {
        // SAFETY: the child was not waited for yet.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        while !matches!(self.wait(), Stop::Ended(_)) {}
        TRACED.store(0, Ordering::Relaxed);
        self.child.stdout.take();
    }

    /// Lets it go on to its end; its exit status, and what it printed.
    pub fn finish(mut self) -> (i32, String) {
        let mut signal = 0;
        let status = loop {
            match self.go_on(signal) {
                Stop::Ended(status) => break status,
                Stop::Signal(other) => signal = other,
                _ => signal = 0,
            }
        };
        TRACED.store(0, Ordering::Relaxed);
        let mut printed = String::new();
        if let Some(mut stdout) = self.child.stdout.take() {
            let _ = stdout.read_to_string(&mut printed);
        }
        (status, printed)
    }

    /// So many bytes of its memory, or as many of them as there are.
    pub fn bytes(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::with_capacity(length);
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
        let remote = libc::iovec { iov_base: address as *mut _, iov_len: length };
        // SAFETY: the kernel writes at most `length` bytes, which are reserved, and returns how many.
        unsafe {
            let read = libc::process_vm_readv(self.pid, &raw const local, 1, &raw const remote, 1, 0);
            bytes.set_len(read.max(0) as usize);
        }
        bytes
    }

    /// Where the files with one of these names are mapped, all their parts.
    pub fn ranges(&self, names: &[&str]) -> Vec<(u64, u64)> {
        self.mapped(|line| names.iter().any(|name| line.contains(name)))
    }

    /// What it maps to be written and shared with others.
    pub fn shared_ranges(&self) -> Vec<(u64, u64)> {
        self.mapped(|line| line.split(' ').nth(1).is_some_and(|rights| rights.ends_with("w-s")))
    }

    /// The mappings whose lines in `/proc/PID/maps` are as wanted.
    fn mapped(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<(u64, u64)> {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.pid)).unwrap_or_default();
        let lines = maps.lines().filter(|line| is_wanted(line));
        let bounds = lines.filter_map(|line| line.split(' ').next()?.split_once('-'));
        let number = |text| u64::from_str_radix(text, 16).ok();
        bounds.filter_map(|(from, to)| Some((number(from)?, number(to)?))).collect()
    }
}
