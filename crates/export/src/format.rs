//! The formats: one table for the command line, its help and the documents.

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Folded stacks.
    Folded,
    /// A picture.
    Flamegraph,
    /// Speedscope's file format.
    Speedscope,
    /// The profile of `pprof`, compressed.
    Pprof,
    /// The processed profile of the Firefox Profiler.
    Firefox,
    /// Trace events of Chrome.
    ChromeTrace,
}

/// A format as help and documents show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatSpec {
    /// Which.
    pub format: Format,
    /// Its word on the command line.
    pub id: &'static str,
    /// Another word for it; empty = none.
    pub alias: &'static str,
    /// How the names of its files end.
    pub ending: &'static str,
    /// What opens it.
    pub about: &'static str,
    /// Whether it shows when something happened, which is known of samples of processor time alone.
    pub in_time: bool,
    /// Whether it shows the timelines of states, and not samples.
    pub of_states: bool,
}

/// All formats, in the order in which they are listed.
pub const FORMATS: [FormatSpec; 6] = [
    FormatSpec {
        format: Format::Folded,
        id: "folded",
        alias: "collapsed",
        ending: "folded",
        about: "a line for each call path, `a;b;c N`: flamegraph.pl, inferno, speedscope",
        in_time: false,
        of_states: false,
    },
    FormatSpec {
        format: Format::Flamegraph,
        id: "flamegraph",
        alias: "flamegraph-svg",
        ending: "svg",
        about: "a flame graph as a picture: any browser",
        in_time: false,
        of_states: false,
    },
    FormatSpec {
        format: Format::Speedscope,
        id: "speedscope",
        alias: "",
        ending: "speedscope.json",
        about: "each thread's samples in the order of time: speedscope.app",
        in_time: true,
        of_states: false,
    },
    FormatSpec {
        format: Format::Pprof,
        id: "pprof",
        alias: "",
        ending: "pb.gz",
        about: "call paths by thread: `go tool pprof`, Pyroscope, Parca, Grafana",
        in_time: false,
        of_states: false,
    },
    FormatSpec {
        format: Format::Firefox,
        id: "firefox",
        alias: "",
        ending: "profile.json",
        about: "each thread's samples in the order of time: profiler.firefox.com, `samply load`",
        in_time: true,
        of_states: false,
    },
    FormatSpec {
        format: Format::ChromeTrace,
        id: "chrome-trace",
        alias: "perfetto",
        ending: "trace.json",
        about: "what each thread did when, calls and waits: ui.perfetto.dev, chrome://tracing",
        in_time: true,
        of_states: true,
    },
];

impl Format {
    /// What is known of it.
    pub fn spec(self) -> &'static FormatSpec {
        // The table has each of them, at its position.
        &FORMATS[self as usize]
    }

    /// The format of this word.
    pub fn from_id(word: &str) -> Option<Format> {
        let is_meant = |spec: &&FormatSpec| spec.id == word || !word.is_empty() && spec.alias == word;
        FORMATS.iter().find(is_meant).map(|spec| spec.format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_at_its_place_in_the_table() {
        for (n, spec) in FORMATS.iter().enumerate() {
            assert_eq!((spec.format as usize, spec.format.spec().id), (n, spec.id));
            assert_eq!(Format::from_id(spec.id), Some(spec.format));
        }
        assert_eq!(Format::from_id("perfetto"), Some(Format::ChromeTrace));
        assert_eq!(Format::from_id(""), None);
    }

    /// The table of formats in the documents is that of the program.
    #[test]
    fn the_documents_have_the_table() {
        let document = include_str!("../../../docs/exporting.md");
        let row = |spec: &FormatSpec| format!("| `{}` | `.{}` | {} |\n", spec.id, spec.ending, spec.about);
        let rows: String = FORMATS.iter().map(row).collect();
        let table = format!("| format | file | what it has, and what opens it |\n|---|---|---|\n{rows}\n");
        assert!(document.contains(&table), "docs/exporting.md must contain\n{table}");
    }
}
