//! The parts of an advance of the CPU clock.

use proust_profile::SampleRow;

/// How much of an advance was spent in which mode, and in the collector.
#[derive(Clone, Copy, Default)]
pub(super) struct Shares {
    pub(super) user_us: u64,
    pub(super) system_us: u64,
    pub(super) own_ns: u64,
}

impl Shares {
    /// A row's times, scaled so that user and system time make up the weight.
    pub(super) fn row(&mut self, weight: u64) -> SampleRow {
        let known = self.user_us + self.system_us;
        let system_ns = match known {
            0 => 0,
            _ => (u128::from(weight) * u128::from(self.system_us) / u128::from(known)) as u64,
        };
        let measurement_ns = self.own_ns.min(weight);
        self.own_ns -= measurement_ns;
        SampleRow {
            cpu_ns: weight,
            user_ns: weight - system_ns,
            system_ns,
            measurement_ns,
            ..SampleRow::default()
        }
    }
}
