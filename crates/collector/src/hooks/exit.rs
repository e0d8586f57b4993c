//! Ends of the process that run no destructors.

use core::ffi::c_int;

use proust_log::layout::Ending;

use crate::interpose::{call_real, declare, interpose};
use crate::{brief, life, process, raw};

fn end(status: c_int) {
    if brief::end(Ending::ImmediateExit, status, b"") {
        return;
    }
    if let Some(life) = life::in_hook() {
        process::end(life, Ending::ImmediateExit, status);
    }
}

fn exit_group(status: c_int) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { raw::call(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// `_exit`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _exit(status: c_int) -> ! {
    end(status);
    call_real!(real::_exit(status) else exit_group(status))
}

/// `_Exit`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _Exit(status: c_int) -> ! {
    end(status);
    call_real!(real::_exit(status) else exit_group(status))
}

/// `quick_exit`, whose own handlers run after the record's end.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn quick_exit(status: c_int) -> ! {
    end(status);
    call_real!(real::quick_exit(status) else exit_group(status))
}

interpose! {
    _exit(status: c_int as number(status)) -> !, or "exit_group";
    quick_exit(status: c_int as number(status)) -> !, or "exit_group";
}

// These call functions of other rows.
declare! {
    _Exit(status: c_int as number(status)) -> !, or "exit_group";
}
