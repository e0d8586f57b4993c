//! Whatever a record holds, it comes back from a block; whatever a block holds, records come back or none.

use super::{Event, PartnerWait, Release, Sample, State, Stay, Synchronisation, Transfer};
use crate::record::{Key, MAX_COLUMNS, Record};
use proptest::prelude::*;

fn comes_back<R: Record>(record: R) -> Result<(), TestCaseError> {
    let mut values = [0; MAX_COLUMNS];
    record.store(&mut values);
    prop_assert!(values[R::COLUMNS.len()..].iter().all(|&value| value == 0), "a value without a column");
    prop_assert_eq!(R::load(record.begin_ns(), record.end_ns(), &values), Some(record));
    Ok(())
}

proptest! {
    #[test]
    fn records_come_back(
        times in any::<(u32, u32)>(),
        small in any::<(u8, u16, u8, u8)>(),
        numbers in any::<(u32, u32, u32, u32)>(),
        large in any::<(u64, u64, u64, u64)>(),
        optional in any::<(Option<u32>, Option<u32>)>(),
    ) {
        let (begin_ns, end_ns) = (u64::from(times.0), u64::from(times.0) + u64::from(times.1));
        let key = Key { account: small.0, context: numbers.0 };
        let parts_ns = [3, 4, 5, 6].map(|part| u64::from(times.1) / part);
        comes_back(State { begin_ns, end_ns, key, flags: small.2, parts_ns })?;
        comes_back(Event {
            begin_ns,
            end_ns,
            time_ns: large.0,
            depth: small.1,
            context: numbers.0,
            operation: numbers.1,
            target: small.2,
            calls: numbers.2,
            errors: numbers.3,
            bytes: large.1,
            cpu_clock_ns: optional.0.map(u64::from),
            object: large.2,
            object2: large.3,
            flags: small.3,
        })?;
        comes_back(Sample {
            time_ns: begin_ns,
            context: numbers.0,
            cpu_ns: large.0,
            user_ns: large.1,
            system_ns: large.2,
            measurement_ns: large.3,
            minor_faults: numbers.1,
            major_faults: numbers.2,
            voluntary_switches: numbers.3,
            involuntary_switches: numbers.0,
            queued_us: optional.0,
            processor: small.1,
            flags: small.0,
        })?;
        comes_back(Release {
            time_ns: begin_ns,
            context: numbers.0,
            site: optional.0,
            operation: numbers.1,
            object: large.0,
            held_ns: large.1,
            weight_ns: large.2,
            since_ns: optional.1.map(u64::from),
        })?;
        comes_back(Stay {
            begin_ns,
            end_ns,
            fork_ns: large.0,
            region: numbers.0,
            number: numbers.1,
            team: numbers.2,
        })?;
        comes_back(Synchronisation {
            arrival_ns: begin_ns,
            departure_ns: end_ns,
            site: numbers.0,
            group: large.0,
            instance: large.1,
            members: numbers.1,
            last: optional.0,
            class: small.0,
        })?;
        comes_back(Transfer {
            begin_ns,
            end_ns,
            context: numbers.0,
            operation: numbers.1,
            counts: [numbers.2, numbers.0, numbers.1],
            bytes: [large.0, large.1, u64::from(numbers.2)],
        })?;
        comes_back(PartnerWait {
            begin_ns,
            until_ns: end_ns,
            context: numbers.0,
            operation: numbers.1,
            pattern: small.0,
            late: numbers.2,
            late_context: numbers.3,
            misordered_ns: large.0,
            bytes: large.1,
        })?;
    }

    #[test]
    fn any_values_are_loaded_or_refused(begin_ns: u32, length: u32, values: [u64; MAX_COLUMNS]) {
        let (begin_ns, end_ns) = (u64::from(begin_ns), u64::from(begin_ns) + u64::from(length));
        let _ = State::load(begin_ns, end_ns, &values);
        let _ = Event::load(begin_ns, end_ns, &values);
        let _ = Sample::load(begin_ns, end_ns, &values);
        let _ = Release::load(begin_ns, end_ns, &values);
        let _ = Stay::load(begin_ns, end_ns, &values);
        let _ = Synchronisation::load(begin_ns, end_ns, &values);
        let _ = Transfer::load(begin_ns, end_ns, &values);
        let _ = PartnerWait::load(begin_ns, end_ns, &values);
    }
}
