//! What a log says of its process beside its measurements: host, program, arguments, folder, clock.
//!
//! A forked child has most of it from its parent. What lies below `/proc` is asked once for an image: the kernel makes nodes there
//! for each process that asks, which takes as long as the rest of a child's begin.

use core::ffi::c_char;

use proust_log::records::Subject;

use crate::lane::{self, Output};
use crate::life::Strings;
use crate::path::modules;
use crate::{arena, hooks, logfile, process, raw, time_namespace};

/// Most bytes of arguments that are kept.
const ARGUMENT_BYTES: usize = 16 * 1024;
/// So many are kept without memory of their own.
const FEW_BYTES: usize = 1024;

/// What does not change while an image runs.
pub struct Facts {
    executable: &'static [u8],
    /// Where the arguments lie, one after the other, with a zero behind each. The program may change them.
    arguments: (u64, usize),
    /// How far CLOCK_MONOTONIC is ahead of the machine's.
    clock_offset_ns: i64,
}

impl Facts {
    /// Of the image that just begins with these arguments.
    pub fn of_this_image(arguments: Strings) -> Facts {
        let mut path = [0; 4096];
        let length = usize::try_from(raw::readlink(c"/proc/self/exe", &mut path)).unwrap_or(0);
        let start = arguments.first();
        let end = arguments.map(|text| text.as_ptr() as u64 + text.len() as u64 + 1).fold(start, u64::max);
        Facts {
            executable: Vec::leak(path.get(..length).unwrap_or(&[]).to_vec()),
            arguments: (start, end.saturating_sub(start) as usize),
            clock_offset_ns: time_namespace::monotonic_offset_ns(),
        }
    }

    /// Asks again for the clock's offset in a child that began at `begin_ns`, if its clock may be another one than its parent's.
    pub fn follow_clock(&mut self, begin_ns: u64) {
        if process::may_have_other_clock(begin_ns) {
            self.clock_offset_ns = time_namespace::monotonic_offset_ns();
        }
    }

    /// Writes all of it, and what of the environment tells of parallelism.
    pub fn write(&self, output: &mut Output, environment: Option<Strings>) {
        for module in modules::all() {
            lane::write_module(output, module);
        }
        let mut host = [0; 65];
        let length = raw::host_name(&mut host);
        output.push_text(Subject::Host, 0, &host[..length]);
        output.push_text(Subject::Executable, 0, self.executable);
        let mut path = [0; 4096];
        let length = usize::try_from(raw::getcwd(&mut path)).unwrap_or(1);
        output.push_text(Subject::WorkingFolder, 0, &path[..length.saturating_sub(1)]);
        if self.clock_offset_ns != 0 {
            let mut digits = [0; 20];
            let sign: &[u8] = if self.clock_offset_ns < 0 { b"-" } else { b"" };
            let mut text = sign.to_vec();
            text.extend_from_slice(logfile::digits(self.clock_offset_ns.unsigned_abs(), &mut digits));
            output.push_text(Subject::MonotonicOffset, 0, &text);
        }
        self.write_arguments(output);
        if let Some(environment) = environment {
            for entry in environment.filter(|entry| hooks::environment::tells_of_parallelism(entry)) {
                output.push_text(Subject::Variable, 0, entry);
            }
        }
    }

    fn write_arguments(&self, output: &mut Output) {
        let (start, bytes) = self.arguments;
        let bytes = bytes.min(ARGUMENT_BYTES);
        let mut few = [0; FEW_BYTES];
        if let Some(buffer) = few.get_mut(..bytes) {
            write_arguments_at(start, buffer, output);
            return;
        }
        let memory = arena::pages(ARGUMENT_BYTES);
        if memory.is_null() {
            return;
        }
        // SAFETY: mapped just now with this size, and given back when nothing uses it any more.
        unsafe {
            write_arguments_at(start, core::slice::from_raw_parts_mut(memory, bytes), output);
            arena::give_back(memory, ARGUMENT_BYTES);
        }
    }
}

/// Reads the arguments as another process would: where a program has moved them away, nothing is there.
fn write_arguments_at(start: u64, buffer: &mut [u8], output: &mut Output) {
    let got = raw::read_memory(raw::getpid(), start, buffer);
    let text = buffer.get(..usize::try_from(got).unwrap_or(0)).unwrap_or(&[]);
    let text = text.strip_suffix(&[0]).unwrap_or(text);
    for (number, argument) in text.split(|&byte| byte == 0).enumerate() {
        output.push_text(Subject::Argument, number as u32, argument);
    }
}

impl Strings {
    /// Address of the first string; 0 = there is none.
    fn first(&self) -> u64 {
        { *self }.next().map_or(0, |text| text.as_ptr().cast::<c_char>() as u64)
    }
}
