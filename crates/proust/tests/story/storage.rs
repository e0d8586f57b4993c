//! Whatever happens to the run's folder, the program runs to its end, and nothing outside the folder is
//! touched.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use crate::command::{proust, run, start};
use crate::programs::built;
use crate::recording::{empty_folder, record, report, truth_in};

#[test]
fn a_log_folder_that_is_removed_during_the_run() {
    let Some(program) = built("endings") else { return };
    for (removed, said) in [("$PROUST_RUN/log", "log was removed"), ("$PROUST_RUN", "the recording is lost")]
    {
        let command = format!("rm -r \"{removed}\"; '{}' 0.2 return", program.display());
        let folder = empty_folder();
        let dir = folder.path().join("run");
        let ended = run(proust().args(["record", "-o"]).arg(&dir).args(["--", "sh", "-c", &command]));
        assert_eq!(ended.status.code(), Some(40), "{}", ended.said());
        assert_eq!(truth_in(&ended)["mode"], "return");
        assert!(ended.said().contains(said), "{}", ended.said());
        let page = report(&dir, "summary", &[] as &[&str]);
        assert_eq!(page.status.code(), Some(1), "{}", page.said());
    }
}

#[test]
fn logs_of_which_one_is_removed_or_replaced() {
    let Some(program) = built("endings") else { return };
    let victim = empty_folder();
    let treasure = victim.path().join("treasure");
    fs::write(&treasure, "gold").unwrap();
    let command = format!(
        "'{0}' 0.1 return; cd \"$PROUST_RUN/log\"; for f in *; do ln -sf '{1}' \"$f\"; done; mkdir \
         1-1.plog; '{0}' 0.3 return",
        program.display(),
        treasure.display()
    );
    let recorded = record("sh", &["-c", &command]);
    assert_eq!(recorded.ended.status.code(), Some(40), "{}", recorded.ended.said());
    for page in ["summary", "quality"] {
        let ended = report(&recorded.dir, page, &[] as &[&str]);
        assert!(
            ended.status.code().is_some_and(|code| code < 2),
            "{page}: {:?}: {}",
            ended.status,
            ended.said()
        );
    }
    assert_eq!(fs::read_to_string(&treasure).unwrap(), "gold");
    assert_eq!(fs::read_dir(victim.path()).unwrap().count(), 1);
}

#[test]
fn a_link_in_the_place_of_the_folder_is_never_followed() {
    let folder = empty_folder();
    let (full, link, dangling) =
        (folder.path().join("full"), folder.path().join("link"), folder.path().join("dangling"));
    fs::create_dir(&full).unwrap();
    symlink(&full, &link).unwrap();
    symlink(folder.path().join("not-there"), &dangling).unwrap();
    for dir in [&link, &dangling] {
        let ended = run(proust().args(["record", "-o"]).arg(dir).args(["--", "true"]));
        assert_eq!(ended.status.code(), Some(125), "{}", ended.said());
        assert!(dir.symlink_metadata().unwrap().is_symlink());
    }
    assert_eq!(fs::read_dir(&full).unwrap().count(), 0);
    assert!(!folder.path().join("not-there").exists());
}

/// During the run another folder, or a link to one, takes the place of the run's or of its logs: that of
/// somebody else stays as it is.
#[test]
fn links_put_in_place_during_a_run_are_never_followed() {
    let Some(program) = built("endings") else { return };
    let program = program.display();
    for replaced in [
        "rm -r \"$PROUST_RUN/log\"; ln -s \"$0\" \"$PROUST_RUN/log\"",
        "mv \"$PROUST_RUN\" \"$PROUST_RUN.moved\"; ln -s \"$0\" \"$PROUST_RUN\"",
        "mv \"$PROUST_RUN\" \"$PROUST_RUN.moved\"; cp -r \"$0\" \"$PROUST_RUN\"",
        "rm \"$PROUST_RUN/control\"; ln -s \"$0/control\" \"$PROUST_RUN/control\"",
        "rm \"$PROUST_RUN/run.json\"; ln -s \"$0/run.json\" \"$PROUST_RUN/run.json\"",
        "ln -s \"$0\" \"$PROUST_RUN/profile\"",
    ] {
        let folder = empty_folder();
        let victim = folder.path().join("victim");
        // It looks like a run of the same version.
        let made = run(proust().args(["record", "-o"]).arg(&victim).args(["--", "sh", "-c", "exit 9"]));
        assert_eq!(made.status.code(), Some(9), "{}", made.said());
        let before = content(&victim);
        let dir = folder.path().join("run");
        let command =
            format!("'{program}' 0.1 return; {replaced}; '{program}' 0.4 return; '{program}' 0.1 return");
        let ended = run(proust()
            .args(["record", "--rate", "1000", "-o"])
            .arg(&dir)
            .args(["--", "sh", "-c", &command])
            .arg(&victim));
        assert_eq!(ended.status.code(), Some(40), "{replaced}: {}", ended.said());
        assert_eq!(truth_in(&ended)["mode"], "return");
        assert_eq!(content(&victim), before, "{replaced}");
        let page = report(&dir, "summary", &[] as &[&str]);
        assert!(page.status.code().is_some_and(|code| code < 2), "{replaced}: {}", page.said());
        if dir.symlink_metadata().is_ok_and(|dir| dir.is_dir()) {
            assert_eq!(content(&victim), before, "{replaced}, then a report");
        }
    }
}

/// A file system that may only be read: nothing is run, and what was recorded there before can be reported.
#[test]
fn a_file_system_that_may_only_be_read() {
    let folder = empty_folder();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let script = r#"
        mount -t tmpfs -o size=32m none "$DISK" 2>/dev/null || exit 77
        "$PROUST" record -o "$DISK/run" -- sh -c 'exit 4'
        mount -o remount,ro "$DISK" || exit 78
        "$PROUST" report "$DISK/run" summary >&2 || exit 79
        "$PROUST" record -o "$DISK/new" -- echo it ran"#;
    let ended = run(Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .env_remove("PROUST_RUN")
        .env("DISK", &disk)
        .env("PROUST", env!("CARGO_BIN_EXE_proust")));
    if ended.status.code() == Some(77) || ended.said().contains("unshare") {
        println!("SKIP: a small disk cannot be mounted here");
        return;
    }
    assert_eq!(ended.status.code(), Some(125), "{}", ended.said());
    assert_eq!(ended.printed(), "");
    assert!(ended.said().contains(disk.join("new").to_str().unwrap()), "{}", ended.said());
}

#[test]
fn of_two_runs_into_one_folder_one_is_refused() {
    let folder = empty_folder();
    for round in 0..5 {
        let dir = folder.path().join(round.to_string());
        let both = [(); 2].map(|()| {
            start(
                proust()
                    .args(["record", "-o"])
                    .arg(&dir)
                    .args(["--", "sh", "-c", "sleep 0.1; exit 3"])
                    .stdin(std::process::Stdio::null()),
            )
        });
        let mut codes = both.map(|one| one.wait().status.code());
        codes.sort();
        assert_eq!(codes, [Some(3), Some(125)]);
        assert!(report(&dir, "summary", &[] as &[&str]).status.success());
    }
}

/// As another user: what belongs to root is root's alone, until root lets others read it; and it is never
/// written to.
#[test]
fn a_run_that_another_user_owns() {
    // SAFETY: takes nothing, changes nothing.
    if unsafe { libc::geteuid() } != 0 {
        println!("SKIP: only root can become another user");
        return;
    }
    let folder = empty_folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let own = folder.path().join("proust");
    fs::copy(env!("CARGO_BIN_EXE_proust"), &own).unwrap();
    let dir = folder.path().join("run");
    let recorded = run(proust().args(["record", "-o"]).arg(&dir).args(["--", "sh", "-c", "exit 4"]));
    assert_eq!(recorded.status.code(), Some(4), "{}", recorded.said());
    let before = content(&dir);
    let as_nobody = |arguments: &[&str]| {
        run(Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&own)
            .args(arguments)
            .current_dir(folder.path())
            .env("HOME", "/nonexistent")
            .env_remove("XDG_CACHE_HOME")
            .env("NO_COLOR", "1"))
    };
    let page = as_nobody(&["report", "run", "summary"]);
    assert_eq!(page.status.code(), Some(1), "{}", page.said());
    assert!(page.said().contains("run") && page.said().contains("ermission denied"), "{}", page.said());
    assert!(run(Command::new("chmod").args(["-R", "go+rX"]).arg(&dir)).status.success());
    let page = as_nobody(&["report", "run", "summary"]);
    assert!(page.status.success(), "{}", page.said());
    assert_eq!(content(&dir), before, "another user's run was changed");
    for place in ["run", "new"] {
        let refused = as_nobody(&["record", "-o", place, "--", "touch", "/dev/null"]);
        assert_eq!(refused.status.code(), Some(125), "{}", refused.said());
        assert!(refused.said().contains(place), "{}", refused.said());
    }
    assert_eq!(content(&dir), before);
}

/// Names, sizes and times of all that is in a folder.
fn content(dir: &std::path::Path) -> Vec<(String, u64, i64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let metadata = entry.metadata().unwrap();
        found.push((entry.path().display().to_string(), metadata.len(), metadata.mtime()));
        if metadata.is_dir() {
            found.extend(content(&entry.path()));
        }
    }
    found.sort();
    found
}
