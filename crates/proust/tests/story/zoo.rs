//! The zoo: programs of every kind do the same with Proust as without it. The table is
//! `programs/zoo/members`, which explains its form; what each member costs more is printed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{Ended, proust, run};
use crate::pages::Threads;
use crate::programs;
use crate::recording::{empty_folder, number, report};

/// Members that there must be at least, those that this machine cannot run included.
const AT_LEAST: usize = 40;
/// Longer than any member needs to leave its file behind.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Member {
    name: String,
    group: String,
    needs: Vec<String>,
    filters: Vec<String>,
    ignored: Vec<String>,
    wait_for: Option<String>,
    options: Vec<String>,
    cost: String,
    script: String,
}

/// What a run of a member did.
#[derive(PartialEq)]
struct Seen {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// By path: mode, and content of files.
    files: BTreeMap<String, (u32, Vec<u8>)>,
}

fn members() -> Vec<Member> {
    let table = fs::read_to_string(programs::folder().join("zoo/members")).expect("the table of the zoo");
    let mut members: Vec<Member> = Vec::new();
    let mut in_script = false;
    for line in table.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'))
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-".contains(&byte))
        {
            members.push(Member { name: name.to_owned(), ..Member::default() });
            in_script = false;
            continue;
        }
        let Some(member) = members.last_mut() else { continue };
        if in_script {
            member.script.push_str(line);
            member.script.push('\n');
        } else if line.is_empty() {
            in_script = true;
        } else {
            let (key, rest) = line.split_once(": ").unwrap_or_else(|| panic!("[{}]: {line}", member.name));
            let (value, reason) = rest.split_once("  # ").unwrap_or((rest, ""));
            let words = || value.split_whitespace().map(str::to_owned);
            match key {
                "group" => member.group = value.to_owned(),
                "needs" => member.needs.extend(words()),
                "options" => member.options.extend(words()),
                "cost" => member.cost = value.to_owned(),
                "wait-for" => member.wait_for = Some(value.to_owned()),
                "filter" | "ignore" => {
                    assert!(!reason.is_empty(), "[{}]: {key} without a reason", member.name);
                    let list = if key == "filter" { &mut member.filters } else { &mut member.ignored };
                    list.push(value.to_owned());
                }
                _ => panic!("[{}]: {key} is not known", member.name),
            }
        }
    }
    members
}

impl Member {
    /// What it needs and is not here.
    fn missing(&self) -> Option<&str> {
        let there = |need: &str| match need.strip_prefix("build/") {
            Some(program) => programs::built(program).is_some(),
            None if need.contains('/') => Path::new(need).exists(),
            None => programs::has(need),
        };
        self.needs.iter().map(String::as_str).find(|need| !there(need))
    }

    /// Runs it in a folder `work` of `place`, alone or recorded into `run` there.
    fn run(&self, place: &Path, recorded: bool) -> (Seen, Ended) {
        let work = place.join("work");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).expect("an empty folder");
        let script = place.join("member.sh");
        fs::write(&script, &self.script).expect("the script");
        let mut command = if recorded { proust() } else { Command::new("bash") };
        if recorded {
            command.arg("record").arg("-o").arg(place.join("run")).args(&self.options).args(["--", "bash"]);
        }
        command
            .arg(&script)
            .current_dir(&work)
            .env("PROGRAMS", programs::folder().join("build"))
            .env("ZOO", programs::folder().join("zoo"))
            .env("WORK", "1")
            .env("LC_ALL", "C")
            .env_remove("PROUST_RUN");
        let ended = run(&mut command);
        if let Some(file) = &self.wait_for {
            let begun = Instant::now();
            while !work.join(file).exists() {
                assert!(begun.elapsed() < PATIENCE, "{}: {file} does not come", self.name);
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let mut files = BTreeMap::new();
        self.collect(&work, &work, &mut files);
        let seen = Seen {
            code: ended.status.code(),
            stdout: self.filtered(&ended.stdout),
            stderr: self.filtered(&without_own_lines(&ended.stderr, recorded)),
            files,
        };
        (seen, ended)
    }

    fn collect(&self, root: &Path, folder: &Path, files: &mut BTreeMap<String, (u32, Vec<u8>)>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            let Ok(metadata) = path.symlink_metadata() else { continue };
            let known = metadata.is_file() && !self.ignored.contains(&name);
            let content = if known { fs::read(&path).unwrap_or_default() } else { Vec::new() };
            files.insert(name, (metadata.mode(), if known { self.filtered(&content) } else { content }));
            if metadata.is_dir() {
                self.collect(root, &path, files);
            }
        }
    }

    /// What is left when that which differs in each run is changed.
    fn filtered(&self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for filter in &self.filters {
            let mut sed = Command::new("sed")
                .args(["-E", filter])
                .env("LC_ALL", "C")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("sed");
            let mut input = sed.stdin.take().expect("its input");
            let given = text.clone();
            let writer = std::thread::spawn(move || input.write_all(&given));
            let output = sed.wait_with_output().expect("its output");
            let _ = writer.join();
            assert!(output.status.success(), "{}: filter {filter}", self.name);
            text = output.stdout;
        }
        text
    }
}

/// stderr without what `record` says: a note at the begin, and three lines at the end.
fn without_own_lines(stderr: &[u8], recorded: bool) -> Vec<u8> {
    if !recorded {
        return stderr.to_vec();
    }
    let mut lines: Vec<&[u8]> = stderr.split_inclusive(|&byte| byte == b'\n').collect();
    let own = lines.iter().rev().take(3).take_while(|line| line.starts_with(b"proust: ")).count();
    lines.truncate(lines.len() - own);
    let notes = lines.iter().take_while(|line| line.starts_with(b"proust: note: ")).count();
    lines.split_off(notes).concat()
}

fn first_difference(what: &str, alone: &[u8], recorded: &[u8]) -> String {
    let (alone, recorded) = (String::from_utf8_lossy(alone), String::from_utf8_lossy(recorded));
    let missing = alone.lines().filter(|line| !recorded.lines().any(|one| one == *line));
    let added = recorded.lines().filter(|line| !alone.lines().any(|one| one == *line));
    let lines = missing.map(|line| format!("- {line}")).chain(added.map(|line| format!("+ {line}")));
    format!("{what}:\n{}\n", lines.take(15).collect::<Vec<_>>().join("\n"))
}

/// How two runs differ, in words.
fn difference(alone: &Seen, recorded: &Seen) -> String {
    let mut said = String::new();
    if alone.code != recorded.code {
        said += &format!("exit status {:?}, alone {:?}\n", recorded.code, alone.code);
    }
    if alone.stdout != recorded.stdout {
        said += &first_difference("stdout", &alone.stdout, &recorded.stdout);
    }
    if alone.stderr != recorded.stderr {
        said += &first_difference("stderr", &alone.stderr, &recorded.stderr);
    }
    for name in alone.files.keys().chain(recorded.files.keys()) {
        if alone.files.get(name) != recorded.files.get(name) {
            said += &format!("file {name:?} differs\n");
        }
    }
    said
}

/// Each process that printed its truth is in the report with all the CPU time it had; or the report says why
/// not.
fn accounted_for(member: &Member, place: &Path, ended: &Ended) -> Result<(), String> {
    let page = report(&place.join("run"), "threads", &["--format", "json"]);
    if !page.status.success() {
        return Err(format!("report: {:?}: {}", page.status, page.said()));
    }
    let threads: Threads = serde_json::from_slice(&page.stdout).map_err(|error| error.to_string())?;
    let quality = report(&place.join("run"), "quality", &[] as &[&str]).printed();
    let damaged = quality.lines().find(|line| line.trim_start().starts_with("implausible_records"));
    if damaged.and_then(|line| line.split_whitespace().nth(1)) != Some("0") {
        return Err(format!("records of its log contradict each other:\n{quality}"));
    }
    if member.group != "hostile" {
        return Ok(());
    }
    for line in ended.printed().lines().filter(|line| line.starts_with("{\"pid\":")) {
        let truth: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let (pid, cpu_s) = (number(&truth, "/pid") as u64, number(&truth, "/cpu_s"));
        let found = threads.cpu_of_process(pid);
        // What comes before the collector and after the truth is a few milliseconds, more on a loaded
        // machine.
        if found > cpu_s * 1.05 + 0.05 || found < cpu_s * 0.95 - 0.05 {
            return Err(format!("process {pid} had {cpu_s} s, {found} s are in the report:\n{quality}"));
        }
    }
    Ok(())
}

fn group(name: &str) {
    let mut wrong = Vec::new();
    let (mut same, mut skipped) = (0, 0);
    for member in members().iter().filter(|member| member.group == name) {
        if let Some(need) = member.missing() {
            println!("SKIP: zoo: {} needs {need}, which is not here", member.name);
            skipped += 1;
            continue;
        }
        let folder = empty_folder();
        let (alone, ended_alone) = member.run(folder.path(), false);
        let (recorded, ended) = member.run(folder.path(), true);
        println!(
            "{}: wall {:.2} s -> {:.2} s, CPU {:.3} s -> {:.3} s",
            member.name, ended_alone.wall_s, ended.wall_s, ended_alone.cpu_s, ended.cpu_s
        );
        let mut said = difference(&alone, &recorded);
        if !said.is_empty() && member.run(folder.path(), false).0 != alone {
            said += "it differs without Proust, too: it needs a filter\n";
        }
        if let Err(error) = accounted_for(member, folder.path(), &ended) {
            said += &error;
        }
        if said.is_empty() {
            same += 1;
        } else {
            wrong.push(format!("{}: {said}", member.name));
        }
    }
    println!("zoo: {name}: {same} the same, {skipped} skipped");
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), wrong.len() + same, wrong.join("\n"));
    assert!(same + skipped > 0, "no member belongs to {name}");
}

#[test]
fn the_table_is_complete() {
    let members = members();
    let groups = ["interpreters", "compilers", "tools", "servers", "debuggers", "hostile"];
    assert!(members.len() >= AT_LEAST, "{} members", members.len());
    for (index, member) in members.iter().enumerate() {
        assert!(groups.contains(&member.group.as_str()), "{}: group {:?}", member.name, member.group);
        let work = member.cost.strip_prefix("cpu ").and_then(|work| work.parse::<u32>().ok());
        assert!(work.is_some() || member.cost == "process", "{}: cost {:?}", member.name, member.cost);
        let scaled = work.is_some_and(|work| work > 1);
        assert_eq!(
            scaled,
            member.script.contains("WORK"),
            "{}: the script and what the benchmark asks for",
            member.name
        );
        assert!(!member.script.trim().is_empty(), "{} has no script", member.name);
        assert!(members.iter().take(index).all(|other| other.name != member.name), "{} twice", member.name);
    }
}

#[test]
fn interpreters() {
    group("interpreters");
}

#[test]
fn compilers() {
    group("compilers");
}

#[test]
fn tools() {
    group("tools");
}

#[test]
fn servers() {
    group("servers");
}

#[test]
fn debuggers() {
    group("debuggers");
}

#[test]
fn hostile_programs() {
    group("hostile");
}
