//! Waiting for child processes.

use core::ffi::{c_char, c_int, c_void};

use libc::{FILE, id_t, idtype_t, pid_t};

use super::family::{errno_of, operations};

operations! {
    wait(status: *mut c_int as output(status)) -> pid_t, or -1 => WaitAny, (0, 0), errno_of;
    waitpid(
        process: pid_t as number(process), status: *mut c_int as output(status),
        options: c_int as number(flags),
    ) -> pid_t, or -1
        => WaitProcess, (process, 0), errno_of;
    wait3(
        status: *mut c_int as output(status), options: c_int as number(flags),
        usage: *mut c_void as output(usage),
    ) -> pid_t, or -1 => WaitUsage, (0, 0), errno_of;
    wait4(
        process: pid_t as number(process), status: *mut c_int as output(status),
        options: c_int as number(flags), usage: *mut c_void as output(usage),
    ) -> pid_t, or -1
        => WaitProcessUsage, (process, 0), errno_of;
    waitid(
        kind: idtype_t as number(kind), process: id_t as number(process),
        info: *mut c_void as output(siginfo), options: c_int as number(flags),
    ) -> c_int, or -1
        => WaitId, (process, 0), errno_of;
}

/// Running a command of the shell.
pub mod shell {
    use proust_log::operations::Operation;

    use super::{c_char, c_int, errno_of};
    use crate::hooks::signal_inheritance::handing_over;
    use crate::interpose::interpose;
    use crate::operation;

    /// `system`
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn system(command: *const c_char) -> c_int {
        let Some(function) = real::system() else { return -1 };
        operation::bracket(
            Operation::System,
            0,
            // SAFETY: the real function with the argument that the program gave.
            || handing_over(|| unsafe { function(command) }),
            errno_of,
        )
    }

    interpose! {
        system(command: *const c_char as command) -> c_int, or -1;
    }
}

/// Closing a pipe to a process waits for its end.
pub mod pipe_streams {
    use proust_log::operations::Operation;

    use super::{FILE, c_int, errno_of};
    use crate::interpose::interpose;
    use crate::operation::{self, targets};

    /// `pclose`
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn pclose(stream: *mut FILE) -> c_int {
        let Some(function) = real::pclose() else { return -1 };
        if !stream.is_null() {
            // SAFETY: the program passes a stream that it has opened.
            targets::forget(unsafe { libc::fileno(stream) });
        }
        operation::bracket(
            Operation::ClosePipeStream,
            stream as u64,
            // SAFETY: the real function with the argument that the program gave.
            || unsafe { function(stream) },
            errno_of,
        )
    }

    interpose! {
        pclose(stream: *mut FILE as stream) -> c_int, or -1;
    }
}
