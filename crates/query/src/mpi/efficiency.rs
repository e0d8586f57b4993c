//! The efficiencies of the POP centre for MPI, multiplicative (Rosas et al. 2014; co-design.pop-coe.eu).
//!
//! With `U_i` the time of process i outside of MPI, `T` the time from the first begin of MPI to the last end,
//! and `T_ideal` the same on an ideal network ([`IdealNetwork`]):
//!
//! ```text
//! parallel efficiency      = avg U / T  = load balance × communication efficiency
//! load balance             = avg U / max U
//! communication efficiency = max U / T  = serialisation efficiency × transfer efficiency
//! serialisation efficiency = max U / T_ideal
//! transfer efficiency      = T_ideal / T
//! ```

use proust_profile::{IdealNetwork, Ns, ProcessId, Profile};

/// The efficiencies of a run, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Efficiency {
    /// From the first begin of MPI to the last end.
    pub time: Ns,
    /// The same on an ideal network; None where not all messages and collectives are matched.
    pub ideal: Option<Ns>,
    /// Of all time of processes, the part outside of MPI.
    pub parallel: f64,
    /// How evenly that is spread over processes.
    pub load_balance: f64,
    /// Of the run, the part that the process with most of it was outside of MPI.
    pub communication: f64,
    /// What of the communication efficiency an ideal network would leave; None without `ideal`.
    pub serialisation: Option<f64>,
    /// The rest of it: what latency, bandwidth and the calls themselves cost.
    pub transfer: Option<f64>,
    /// Time outside of MPI by process.
    pub outside: Vec<(ProcessId, Ns)>,
}

impl Efficiency {
    /// Those of the whole run; None where no two processes of one job used MPI.
    pub fn of(profile: &Profile) -> Option<Efficiency> {
        let IdealNetwork { time_ns, ideal_ns, outside } =
            profile.quality.messages.as_ref()?.ideal.as_ref()?;
        let outside: Vec<(ProcessId, Ns)> = outside.iter().map(|&(id, ns)| (id, Ns::of(ns))).collect();
        let all: Ns = outside.iter().map(|(_, time)| time).sum();
        let most = outside.iter().map(|(_, time)| *time).max().unwrap_or_default();
        let (time, ideal) = (Ns::of(*time_ns), ideal_ns.map(Ns::of));
        if !time.is_positive() || !most.is_positive() || ideal.is_some_and(|ideal| !ideal.is_positive()) {
            return None;
        }
        let processes = outside.len() as f64;
        Some(Efficiency {
            time,
            ideal,
            parallel: all / time / processes,
            load_balance: all / most / processes,
            communication: most / time,
            serialisation: ideal.map(|ideal| most / ideal),
            transfer: ideal.map(|ideal| ideal / time),
            outside,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_profile::MessageQuality;

    fn of(ideal: Option<IdealNetwork>) -> Option<Efficiency> {
        let mut profile = Profile::default();
        profile.quality.messages = Some(MessageQuality { ideal, ..MessageQuality::default() });
        Efficiency::of(&profile)
    }

    #[test]
    fn efficiencies_are_products() {
        let outside = vec![(ProcessId(0), 600_000_000), (ProcessId(1), 200_000_000)];
        let ideal = IdealNetwork { time_ns: 1_000_000_000, ideal_ns: Some(800_000_000), outside };
        let found = of(Some(ideal.clone())).expect("efficiencies");
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(found.parallel, 0.4);
        near(found.load_balance, 2.0 / 3.0);
        near(found.communication, 0.6);
        near(found.serialisation.unwrap(), 0.75);
        near(found.transfer.unwrap(), 0.8);
        near(found.load_balance * found.communication, found.parallel);
        near(found.serialisation.unwrap() * found.transfer.unwrap(), found.communication);
        let unknown = of(Some(IdealNetwork { ideal_ns: None, ..ideal })).expect("efficiencies");
        assert_eq!((unknown.serialisation, unknown.transfer), (None, None));
        assert_eq!(of(None), None);
        assert_eq!(of(Some(IdealNetwork::default())), None);
    }
}
