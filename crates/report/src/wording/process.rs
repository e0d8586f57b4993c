//! How notes name a process.

use proust_profile::notes::Which;

pub(super) fn who(process: &Which) -> String {
    format!("{} (pid {})", process.name, process.pid)
}
