//! Trace events of Chrome, which Perfetto opens as well: on the track of each thread slices that lie within
//! each other, the calls of its path, and innermost what it did there where that is no computation. Times are
//! microseconds since the run's start.

use std::io::Write;

use proust_account::ledger::{Span, Spans, State, Windows, Work};
use proust_account::stored::StoredTimelines;
use proust_query::Selection;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::ExportError;
use crate::frames::{Frames, Subject};
use crate::threads::Thread;

/// An event: `B` begins a slice, `E` ends the innermost one, `M` names a track.
#[derive(Serialize)]
struct Event<'e> {
    ph: &'static str,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
}

/// The file while it is written, an event a line.
struct Events<'o> {
    out: &'o mut dyn Write,
    is_first: bool,
}

impl Events<'_> {
    fn add(&mut self, event: &Event<'_>) -> Result<(), ExportError> {
        self.out.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }

    fn metadata(&mut self, thread: Thread<'_>, name: &str, args: Value) -> Result<(), ExportError> {
        let (pid, tid) = (thread.process.pid, thread.location.tid);
        self.add(&Event { ph: "M", pid, tid, ts: None, name: Some(name), cat: None, args: Some(args) })
    }
}

/// A slice that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slice {
    /// A frame of the call path.
    Frame(Subject),
    /// What the thread does there: the account, or the reason for which it is passive.
    State(&'static str),
}

/// Writes the file.
pub fn write(
    selection: &Selection<'_>,
    windows: &Windows,
    stored: Option<&StoredTimelines>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let stored = match stored {
        Some(stored) => stored,
        None => &StoredTimelines::of(selection.profile()),
    };
    let frames = Frames::of(selection.profile());
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let mut events = Events { out: &mut *out, is_first: true };
    let mut named = None;
    for &location in selection.locations() {
        let thread = Thread::of(selection, location);
        let of = selection.profile().locations[location].process;
        if named.replace(of) != Some(of) {
            let process = thread.process;
            let name =
                format!("{} {}", thread.program(), process.arguments.get(1..).unwrap_or(&[]).join(" "));
            events.metadata(thread, "process_name", json!({ "name": name.trim_end() }))?;
        }
        events.metadata(thread, "thread_name", json!({ "name": thread.name() }))?;
        let stored = stored.spans(location, windows.span_ns());
        let spans = stored.spans().filter(|span| {
            selection.has_context(span.context) && selection.has_state(location, span.context, span.state)
        });
        Track { thread, frames: &frames, open: Vec::new(), end_ns: 0 }.spans(spans, windows, &mut events)?;
    }
    Ok(out.write_all(b"\n]}\n")?)
}

/// The track of a thread.
struct Track<'t> {
    thread: Thread<'t>,
    frames: &'t Frames<'t>,
    open: Vec<Slice>,
    /// Where the last span ended.
    end_ns: u64,
}

impl Track<'_> {
    fn spans(
        mut self,
        spans: impl Iterator<Item = Span>,
        windows: &Windows,
        events: &mut Events<'_>,
    ) -> Result<(), ExportError> {
        let windows = windows.as_slice();
        let mut path = (None, Vec::new());
        for span in spans.filter(|span| span.start_ns < span.end_ns) {
            for window in windows {
                let (start_ns, end_ns) = (span.start_ns.max(window.start_ns), span.end_ns.min(window.end_ns));
                if start_ns >= end_ns {
                    continue;
                }
                if start_ns > self.end_ns {
                    self.close(0, self.end_ns, events)?;
                }
                if path.0 != Some(span.context) {
                    path = (Some(span.context), self.frames.path(span.context));
                }
                let mut slices: Vec<Slice> = path.1.iter().map(|frame| Slice::Frame(frame.subject)).collect();
                slices.extend(state(span.state).map(Slice::State));
                let same = self.open.iter().zip(&slices).take_while(|(a, b)| a == b).count();
                self.close(same, start_ns, events)?;
                for &slice in &slices[same..] {
                    self.begin(slice, start_ns, events)?;
                }
                self.end_ns = end_ns;
            }
        }
        self.close(0, self.end_ns, events)
    }

    /// Ends slices until so many are open.
    fn close(&mut self, until: usize, time_ns: u64, events: &mut Events<'_>) -> Result<(), ExportError> {
        while self.open.len() > until {
            self.open.pop();
            events.add(&self.event("E", time_ns, None, None, None))?;
        }
        Ok(())
    }

    fn begin(&mut self, slice: Slice, time_ns: u64, events: &mut Events<'_>) -> Result<(), ExportError> {
        self.open.push(slice);
        match slice {
            Slice::Frame(subject) => {
                let file = self.frames.file(subject);
                let args = file.map(|file| json!({ "file": file, "line": self.frames.declared_at(subject) }));
                let name = self.frames.name(subject);
                events.add(&self.event("B", time_ns, Some(&name), Some("call"), args))
            }
            Slice::State(id) => events.add(&self.event("B", time_ns, Some(id), Some("state"), None)),
        }
    }

    fn event<'e>(
        &self,
        ph: &'static str,
        time_ns: u64,
        name: Option<&'e str>,
        cat: Option<&'static str>,
        args: Option<Value>,
    ) -> Event<'e> {
        let (pid, tid) = (self.thread.process.pid, self.thread.location.tid);
        Event { ph, pid, tid, ts: Some(time_ns as f64 / 1e3), name, cat, args }
    }
}

/// What a thread does inside of its innermost call; None where it computes.
fn state(state: State) -> Option<&'static str> {
    match state {
        State::Working(Work::Compute) => None,
        State::Working(Work::Delayed) => Some("queued"),
        State::Working(work) => Some(work.account().id()),
        State::Waiting(wait) | State::Polling(wait) => Some(wait.account().id()),
        State::Passive(reason) => Some(reason.id()),
    }
}
