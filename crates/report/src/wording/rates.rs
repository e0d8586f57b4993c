//! How many samples were asked for.

use proust_profile::SettledRate;

/// In a few words, without a full stop.
pub fn asked_rate(rate_hz: u32, settled: Option<SettledRate>) -> String {
    let asked = format!("{rate_hz} a second of CPU time asked");
    match settled {
        Some(SettledRate { rate_hz, after_s }) => {
            format!("{asked}, {rate_hz} of a thread that has used {after_s} s")
        }
        None => asked,
    }
}
