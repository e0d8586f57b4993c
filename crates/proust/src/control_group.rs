//! How much of the processors and of the memory a control group may use (cgroups(7), versions 1 and 2), and
//! for how long it had used up the former.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the kernel shows control groups.
const ROOT: &str = "/sys/fs/cgroup";
/// The controllers of version 1; version 2 has one tree for all.
const PROCESSORS: &str = "cpu";
const MEMORY: &str = "memory";

/// The folders that limit a process: that of its group and those of all groups around it.
#[derive(Clone, Debug, Default)]
pub struct ControlGroup {
    folders: Vec<PathBuf>,
}

impl ControlGroup {
    /// That of the calling process, and so of the processes it starts, which limits its processors.
    pub fn of_this_process() -> ControlGroup {
        ControlGroup::limiting(PROCESSORS)
    }

    /// That of the calling process by which this controller limits it.
    fn limiting(controller: &str) -> ControlGroup {
        let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        ControlGroup::of(&text, controller, Path::new(ROOT))
    }

    /// `text` as in `/proc/PID/cgroup`. A container may see its own group as the root.
    fn of(text: &str, controller: &str, root: &Path) -> ControlGroup {
        let mut folders = Vec::new();
        for line in text.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let mount = match controllers {
                "" => root.to_path_buf(),
                list if list.split(',').any(|one| one == controller) => root.join(controller),
                _ => continue,
            };
            let own = mount.join(path.trim_start_matches('/'));
            folders.extend(
                own.ancestors().take_while(|folder| folder.starts_with(&mount)).map(Path::to_path_buf),
            );
        }
        ControlGroup { folders }
    }

    /// The smallest quota, in thousandths of a processor; None where there is none.
    pub fn quota_milli(&self) -> Option<u32> {
        self.folders.iter().filter_map(|folder| quota_milli(folder)).min()
    }

    /// The smallest limit of memory, bytes; None where there is none.
    fn memory_bytes(&self) -> Option<u64> {
        let limit = |folder: &PathBuf| {
            let text = fs::read_to_string(folder.join("memory.max"))
                .or_else(|_| fs::read_to_string(folder.join("memory.limit_in_bytes")));
            // The word max: no limit.
            text.ok()?.trim().parse::<u64>().ok()
        };
        self.folders.iter().filter_map(limit).min()
    }

    /// Seconds for which it, or a group around it, had no time left so far, summed over processors; None
    /// without a quota.
    fn throttled_s(&self) -> Option<f64> {
        let limited = self.folders.iter().filter(|folder| quota_milli(folder).is_some());
        limited.filter_map(|folder| throttled_s(folder)).reduce(|a, b| a + b)
    }
}

/// How much memory this process may use: that of the machine, or the limit of its control group.
pub fn memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let of_machine = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let of_machine = of_machine.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    let of_group = ControlGroup::limiting(MEMORY).memory_bytes();
    of_machine.map(|kib| kib << 10).into_iter().chain(of_group).min()
}

/// How long the control group had been throttled when the command started.
#[derive(Clone, Debug)]
pub struct Throttled {
    group: ControlGroup,
    before_s: Option<f64>,
}

impl Throttled {
    /// From now on.
    pub fn since_now() -> Throttled {
        let group = ControlGroup::of_this_process();
        Throttled { before_s: group.throttled_s(), group }
    }

    /// Seconds since; None where nothing limits the run.
    pub fn so_far_s(&self) -> Option<f64> {
        Some((self.group.throttled_s()? - self.before_s?).max(0.0))
    }
}

fn quota_milli(folder: &Path) -> Option<u32> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<i64>().ok();
    let (quota, period) = match fs::read_to_string(folder.join("cpu.max")) {
        Ok(text) => {
            let mut words = text.split_ascii_whitespace();
            (words.next()?.parse::<i64>().ok()?, words.next()?.parse::<i64>().ok()?)
        }
        Err(_) => (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?),
    };
    // -1, or the word max: no quota.
    (quota > 0 && period > 0)
        .then(|| u32::try_from(quota.saturating_mul(1000) / period).unwrap_or(u32::MAX).max(1))
}

fn throttled_s(folder: &Path) -> Option<f64> {
    let text = fs::read_to_string(folder.join("cpu.stat")).ok()?;
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<f64>().ok()
    };
    value("throttled_usec").map(|us| us / 1e6).or_else(|| value("throttled_time").map(|ns| ns / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }

    #[test]
    fn the_smallest_quota_on_the_way_to_the_root_counts() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(
            &root.join("a/b"),
            &[("cpu.max", "150000 100000\n"), ("cpu.stat", "usage_usec 9\nthrottled_usec 2500000\n")],
        );
        write(&root.join("a"), &[("cpu.max", "max 100000\n"), ("cpu.stat", "throttled_usec 7000000\n")]);
        let group = ControlGroup::of("0::/a/b\n", PROCESSORS, root);
        assert_eq!((group.quota_milli(), group.throttled_s()), (Some(1500), Some(2.5)));
        write(&root.join("a"), &[("cpu.max", "50000 100000\n")]);
        assert_eq!((group.quota_milli(), group.throttled_s()), (Some(500), Some(9.5)));
        let outside = ControlGroup::of("0::/elsewhere\n", PROCESSORS, root);
        assert_eq!((outside.quota_milli(), outside.throttled_s()), (None, None));
    }

    #[test]
    fn the_first_version_has_other_names() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let files = [
            ("cpu.cfs_quota_us", "25000\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("cpu.stat", "nr_periods 4\nthrottled_time 3000000000\n"),
        ];
        write(&root.join("cpu/x"), &files);
        write(&root.join("cpu"), &[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")]);
        let group = ControlGroup::of("4:cpu,cpuacct:/x\n3:memory:/y\n", PROCESSORS, root);
        assert_eq!((group.quota_milli(), group.throttled_s()), (Some(250), Some(3.0)));
        assert_eq!(ControlGroup::of("broken\n::\n", PROCESSORS, root).quota_milli(), None);
    }

    #[test]
    fn memory_has_a_limit_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(&root.join("a/b"), &[("memory.max", "max\n")]);
        write(&root.join("a"), &[("memory.max", "1048576\n")]);
        write(&root.join("memory/x"), &[("memory.limit_in_bytes", "4096\n")]);
        let of = |text| ControlGroup::of(text, MEMORY, root).memory_bytes();
        assert_eq!(of("0::/a/b\n"), Some(1 << 20));
        assert_eq!(of("4:cpu,cpuacct:/y\n3:memory:/x\n"), Some(4096));
        assert_eq!(of("0::/elsewhere\n"), None);
        assert!(memory_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }
}
