//! The commands of the run's control page, as this process sees them.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::control::{
    BOOT_FILE, Command, LABEL_BYTES, LABELS, LABELS_AT, Labels, SWITCHES, SWITCHES_AT, Switch, Switches,
    boot_number,
};

use crate::{options, raw};

/// How many commands this process has carried out, or found given when it began.
static SEEN: AtomicU32 = AtomicU32::new(0);

fn switches() -> Option<NonNull<Switches>> {
    // SAFETY: the page is mapped whole and for the process's life, and the switches lie in it.
    options::page().map(|page| unsafe { page.cast::<u8>().add(SWITCHES_AT).cast() })
}

/// How many commands were given so far.
#[inline]
fn count() -> u32 {
    // SAFETY: an aligned word of the page, which the command's giver stores atomically.
    switches().map_or(0, |switches| unsafe {
        AtomicU32::from_ptr(&raw mut (*switches.as_ptr()).count).load(Ordering::Acquire)
    })
}

/// Command number `number`.
fn command(number: u32) -> Option<Switch> {
    // SAFETY: within the page. The place is written again only after 127 more commands; half of one is a
    // command that does not exist, or a time that is not believed.
    switches().map(|switches| unsafe {
        (&raw const (*switches.as_ptr()).ring[number as usize % SWITCHES]).read_volatile()
    })
}

/// Whether there are commands that this process has not carried out.
#[inline]
pub fn are_new() -> bool {
    count() != SEEN.load(Ordering::Relaxed)
}

/// The oldest command that is left to carry out, and its number.
pub fn next() -> Option<(u32, Switch)> {
    let (seen, count) = (SEEN.load(Ordering::Relaxed), count());
    if seen == count {
        return None;
    }
    let is_kept = count.wrapping_sub(seen) as usize <= SWITCHES;
    let number = if is_kept { seen } else { count.wrapping_sub(SWITCHES as u32) };
    command(number).map(|switch| (number, switch))
}

/// The caller carries out command `number`; false if another thread does.
pub fn take(number: u32) -> bool {
    let seen = SEEN.load(Ordering::Relaxed);
    let is_next = number.wrapping_sub(seen) < u32::MAX / 2;
    is_next
        && SEEN.compare_exchange(seen, number.wrapping_add(1), Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// The label of command number `number`, and how many bytes of it count.
pub fn label(number: u32) -> ([u8; LABEL_BYTES], usize) {
    let Some(page) = options::page() else { return ([0; LABEL_BYTES], 0) };
    // SAFETY: the page is mapped whole and for the process's life, and the labels lie in it. Bytes that
    // change meanwhile are those of another label.
    let label = unsafe {
        let labels = page.cast::<u8>().add(LABELS_AT).cast::<Labels>();
        (&raw const (*labels.as_ptr())[number as usize % LABELS]).read_volatile()
    };
    let bytes = label.iter().position(|&byte| byte == 0).unwrap_or(LABEL_BYTES);
    (label, bytes)
}

/// The state in which the process begins, by the newest command that switches; all commands then count as
/// carried out.
pub fn at_begin() -> Option<Command> {
    let count = count();
    SEEN.store(count, Ordering::Relaxed);
    newest_switch(count)
}

/// Whether the run was stopped for good.
pub fn has_stopped() -> bool {
    newest_switch(count()) == Some(Command::Stop)
}

fn newest_switch(count: u32) -> Option<Command> {
    let oldest = count.saturating_sub(SWITCHES as u32);
    let commands = (oldest..count).rev().filter_map(|number| Command::from_number(command(number)?.command));
    commands.into_iter().find(|&command| command != Command::Sample)
}

/// Whether a command was given on this machine, so that its time is one of this machine's clock.
pub fn is_from_here(switch: &Switch) -> bool {
    raw::with_text::<64, _>(BOOT_FILE, |text| boot_number(text.trim_ascii())) == Some(switch.boot)
}
