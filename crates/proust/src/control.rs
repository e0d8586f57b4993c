//! The control page of a run, from outside of its processes: recording is switched off and on there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proust_log::control::{
    BOOT_FILE, CONTROL_BYTES, CONTROL_FILE, CONTROL_MAGIC, Command, Control, LABEL_BYTES, LABELS, LABELS_AT,
    OFF, SWITCHES, SWITCHES_AT, Switch, Switches, boot_number,
};
use proust_log::layout::VERSION;
use proust_profile::run_file::Pause;
use zerocopy::{FromBytes, IntoBytes};

use crate::clock::monotonic_ns;

/// The control page of a run.
#[derive(Debug)]
pub struct ControlPage {
    file: File,
    path: PathBuf,
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// It holds from now on.
    Now,
    /// That is how it was already.
    Already,
    /// The run was stopped for good before.
    TooLate,
}

impl ControlPage {
    /// Opens the page of the run in `dir`.
    ///
    /// # Errors
    /// If there is none, or another version of Proust made it.
    pub fn open(dir: &Path) -> Result<ControlPage> {
        let path = dir.join(CONTROL_FILE);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .with_context(|| {
                format!("{} cannot be opened, so the run cannot be controlled", path.display())
            })?;
        let page = ControlPage { file, path };
        let (control, _) = page.read()?;
        if control.magic != CONTROL_MAGIC || control.version != VERSION {
            bail!(
                "{} is of another version of Proust; use the one that records the run",
                page.path.display()
            );
        }
        Ok(page)
    }

    fn read(&self) -> Result<(Control, Switches)> {
        let mut bytes = vec![0; CONTROL_BYTES];
        self.file
            .read_exact_at(&mut bytes, 0)
            .with_context(|| format!("{} cannot be read", self.path.display()))?;
        let control = Control::read_from_prefix(&bytes).map(|(control, _)| control);
        let switches = Switches::read_from_prefix(&bytes[SWITCHES_AT..]).map(|(switches, _)| switches);
        match (control, switches) {
            (Ok(control), Ok(switches)) => Ok((control, switches)),
            _ => bail!("{} is too short", self.path.display()),
        }
    }

    /// Gives a command to all processes of the run, as of now.
    ///
    /// # Errors
    /// If the page cannot be written.
    pub fn give(&self, command: Command) -> Result<Given> {
        let _lock = Lock::of(&self.file)?;
        let (control, switches) = self.read()?;
        let newest = newest(&switches);
        let is_off = newest == Some(Command::Pause);
        match command {
            _ if newest == Some(Command::Stop) => {
                return Ok(if command == Command::Stop { Given::Already } else { Given::TooLate });
            }
            Command::Pause if is_off => return Ok(Given::Already),
            Command::Resume if !is_off => return Ok(Given::Already),
            _ => {}
        }
        let options = if command == Command::Resume { control.options & !OFF } else { control.options | OFF };
        self.add(&switches, command)?;
        self.write(std::mem::offset_of!(Control, options), options.as_bytes())?;
        Ok(Given::Now)
    }

    /// Asks each process of the run for a sample, as of now, with a label of at most [`LABEL_BYTES`].
    ///
    /// # Errors
    /// If the page cannot be written.
    pub fn ask_for_sample(&self, label: &str) -> Result<Given> {
        let _lock = Lock::of(&self.file)?;
        let (_, switches) = self.read()?;
        if newest(&switches) == Some(Command::Stop) {
            return Ok(Given::TooLate);
        }
        let mut bytes = [0; LABEL_BYTES];
        bytes[..label.len()].copy_from_slice(label.as_bytes());
        self.write(LABELS_AT + switches.count as usize % LABELS * LABEL_BYTES, &bytes)?;
        self.add(&switches, Command::Sample)?;
        Ok(Given::Now)
    }

    /// Adds a command: first itself, then the count, so that a process sees complete commands only.
    fn add(&self, switches: &Switches, command: Command) -> Result<()> {
        let switch = Switch { time_ns: monotonic_ns(), boot: boot(), command: command as u32 };
        let place = switches.count as usize % SWITCHES;
        let ring_at = SWITCHES_AT + std::mem::offset_of!(Switches, ring);
        self.write(ring_at + place * size_of::<Switch>(), switch.as_bytes())?;
        let count_at = SWITCHES_AT + std::mem::offset_of!(Switches, count);
        self.write(count_at, switches.count.wrapping_add(1).as_bytes())
    }

    fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all_at(bytes, at as u64)
            .with_context(|| format!("{} cannot be written", self.path.display()))
    }

    /// When recording was switched off, as far as the commands are kept: the newest commands.
    ///
    /// # Errors
    /// If the page cannot be read.
    pub fn pauses(&self) -> Result<Vec<Pause>> {
        Ok(pauses(&self.read()?.1))
    }
}

/// The page of switches of a run that begins now.
pub fn at_start(is_paused: bool) -> Switches {
    let mut switches = Switches { count: 0, reserved: 0, ring: [Switch::default(); SWITCHES] };
    if is_paused {
        switches.count = 1;
        switches.ring[0] = Switch { time_ns: monotonic_ns(), boot: boot(), command: Command::Pause as u32 };
    }
    switches
}

/// The commands that are kept, oldest first.
fn kept(switches: &Switches) -> impl Iterator<Item = &Switch> {
    let kept = (switches.count as usize).min(SWITCHES);
    let first = switches.count as usize - kept;
    (first..first + kept).map(|number| &switches.ring[number % SWITCHES])
}

fn newest(switches: &Switches) -> Option<Command> {
    let commands = kept(switches).filter_map(|switch| Command::from_number(switch.command));
    commands.filter(|&command| command != Command::Sample).last()
}

fn pauses(switches: &Switches) -> Vec<Pause> {
    let mut pauses: Vec<Pause> = Vec::new();
    for switch in kept(switches) {
        let open = pauses.last_mut().filter(|pause| pause.end_ns.is_none());
        match (Command::from_number(switch.command), open) {
            (Some(Command::Resume), Some(pause)) => pause.end_ns = Some(switch.time_ns),
            (Some(Command::Pause | Command::Stop), None) => {
                pauses.push(Pause { begin_ns: switch.time_ns, end_ns: None });
            }
            _ => {}
        }
    }
    pauses
}

fn boot() -> u32 {
    let path = BOOT_FILE.to_str().unwrap_or_default();
    std::fs::read(path).map_or(0, |text| boot_number(text.trim_ascii()))
}

/// No other process gives a command meanwhile.
struct Lock<'a>(&'a File);

impl Lock<'_> {
    fn of(file: &File) -> Result<Lock<'_>> {
        loop {
            match file.lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("the control page cannot be locked"),
            }
        }
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // The descriptor gives it back when it is closed, at the latest.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(is_paused: bool) -> (tempfile::TempDir, ControlPage) {
        let dir = tempfile::tempdir().unwrap();
        let control = Control { magic: CONTROL_MAGIC, version: VERSION, options: 24, ..Control::default() };
        let mut bytes = vec![0; CONTROL_BYTES];
        bytes[..size_of::<Control>()].copy_from_slice(control.as_bytes());
        let switches = at_start(is_paused);
        bytes[SWITCHES_AT..][..size_of::<Switches>()].copy_from_slice(switches.as_bytes());
        std::fs::write(dir.path().join(CONTROL_FILE), bytes).unwrap();
        let page = ControlPage::open(dir.path()).unwrap();
        (dir, page)
    }

    #[test]
    fn commands_say_when_and_only_what_changes() {
        let (_dir, page) = page(false);
        assert_eq!(page.give(Command::Resume).unwrap(), Given::Already);
        assert_eq!(page.give(Command::Pause).unwrap(), Given::Now);
        assert_eq!(page.read().unwrap().0.options, 24 | OFF);
        assert_eq!(page.give(Command::Pause).unwrap(), Given::Already);
        assert_eq!(page.give(Command::Resume).unwrap(), Given::Now);
        assert_eq!(page.read().unwrap().0.options, 24);
        assert_eq!(page.give(Command::Stop).unwrap(), Given::Now);
        assert_eq!(page.give(Command::Stop).unwrap(), Given::Already);
        assert_eq!(page.give(Command::Resume).unwrap(), Given::TooLate);
        let pauses = page.pauses().unwrap();
        assert_eq!(pauses.len(), 2);
        assert!(pauses[0].end_ns.is_some_and(|end_ns| end_ns >= pauses[0].begin_ns));
        assert!(pauses[1].end_ns.is_none() && Some(pauses[1].begin_ns) >= pauses[0].end_ns);
    }

    #[test]
    fn the_newest_commands_are_kept() {
        let (_dir, page) = page(true);
        for _ in 0..SWITCHES {
            assert_eq!(page.give(Command::Resume).unwrap(), Given::Now);
            assert_eq!(page.give(Command::Pause).unwrap(), Given::Now);
        }
        let pauses = page.pauses().unwrap();
        // The first one that is kept is a command to resume.
        assert_eq!(pauses.len(), SWITCHES / 2);
        assert_eq!(pauses.iter().filter(|pause| pause.end_ns.is_none()).count(), 1);
    }

    #[test]
    fn what_is_no_page_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(ControlPage::open(dir.path()).is_err());
        std::fs::write(dir.path().join(CONTROL_FILE), vec![0; CONTROL_BYTES]).unwrap();
        let error = ControlPage::open(dir.path()).unwrap_err();
        assert!(error.to_string().contains("another version"), "{error}");
    }
}
