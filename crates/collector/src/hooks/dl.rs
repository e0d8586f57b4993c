//! Unloading of libraries. Loading is not hooked: who calls `dlopen` decides where it searches.

use core::ffi::{c_int, c_void};

use proust_log::records::ModuleEnd;

use crate::interpose::declare;
use crate::operation::here;
use crate::path::modules;
use crate::real::call_real;
use crate::{clock, lane, life, room};

/// `dlclose`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dlclose(handle: *mut c_void) -> c_int {
    if life::in_hook().is_none() {
        return call_real!(DLCLOSE(handle) else -1);
    }
    let unloading = modules::Unloading::begin(here!().sp);
    let result = call_real!(DLCLOSE(handle) else -1);
    room::apart(|| tell_what_is_gone(unloading));
    result
}

/// Writes which modules are not loaded any more.
fn tell_what_is_gone(unloading: modules::Unloading) {
    let mut gone: [u32; 32] = [0; 32];
    let mut count = 0;
    unloading.end(&mut |module| {
        if let Some(slot) = gone.get_mut(count) {
            *slot = module.id;
            count += 1;
        }
    });
    if let Some(lane) = lane::current() {
        lane.with_record(|record| {
            for &id in gone.iter().take(count) {
                record.output.push(0, 0, &ModuleEnd { time_ns: clock::now_ns(), id, reserved: 0 });
            }
        });
    }
}

declare! {
    dlclose(handle: *mut c_void as opaque(handle)) -> c_int, or -1;
}
