//! Expressions that are understood, and what others are answered.

use super::*;

fn parse(text: &str) -> Result<Filter, FilterError> {
    Filter::parse(&[text])
}

fn name(text: &str) -> Pattern {
    Pattern::Name { text: text.into(), quoted: false }
}

#[test]
fn clauses_are_joined_by_and() {
    let filter = parse("rank=0..3,7 and thread!=worker-* and function=sand and gravel").unwrap_err();
    assert!(filter.to_string().contains("there is no key `gravel`"), "{filter}");
    let filter = parse("rank=0..3,7 and thread!=worker-*").unwrap();
    assert_eq!(filter.clauses.len(), 2);
    assert_eq!(filter.clauses[0].patterns, [Pattern::Numbers(0, 3), Pattern::Numbers(7, 7)]);
    assert!(filter.clauses[1].negated);
    assert_eq!(filter.clauses[1].patterns, [name("worker-*")]);
    assert_eq!(filter.to_string(), "rank=0..3,7 and thread!=worker-*");
}

#[test]
fn quoted_names_are_taken_as_they_are() {
    let filter = parse("function=\"f(int, int)\", g and rank=1").unwrap();
    let quoted = Pattern::Name { text: "f(int, int)".into(), quoted: true };
    assert_eq!(filter.clauses[0].patterns, [quoted, name("g")]);
}

#[test]
fn arguments_of_a_function_are_part_of_its_name() {
    let filter = parse("function=solve<float, 3>, g<a,b>,operator<,h and rank=1").unwrap();
    let expected = ["solve<float, 3>", "g<a,b>", "operator<", "h"].map(name);
    assert_eq!(filter.clauses[0].patterns, expected);
}

#[test]
fn time_has_units() {
    let filter = parse("time=1.5s..2500ms").unwrap();
    assert_eq!(filter.clauses[0].patterns, [Pattern::Time(1_500_000_000, 2_500_000_000)]);
    assert_eq!(parse("time=..1min").unwrap().clauses[0].patterns, [Pattern::Time(0, 60_000_000_000)]);
    assert!(filter.needs_samples());
}

#[test]
fn clauses_about_time_are_windows() {
    let windows = |text: &str| parse(text).unwrap().windows().map(|windows| windows.as_slice().to_vec());
    let (second, end) = (1_000_000_000, u64::MAX);
    assert_eq!(windows("rank=1"), None);
    assert_eq!(
        windows("time=1s..2s,4s.. and time!=5s..6s").unwrap(),
        [Window::new(second, 2 * second), Window::new(4 * second, 5 * second), Window::new(6 * second, end)]
    );
    assert_eq!(windows("time=..1s and time=2s..").unwrap(), []);
}

#[test]
fn samples_are_ranges_of_numbers_kinds_and_labels() {
    let of = |text: &str| parse(text).unwrap().clauses.remove(0).patterns;
    let named = |text: &str, quoted| Some(SampleName::Name { text: text.into(), quoted });
    let number = |number| Some(SampleName::Number(number));
    assert_eq!(of("sample=3..5"), [Pattern::Samples(number(3), number(5))]);
    assert_eq!(
        of("sample=pause..resume,..\"a, b..c\" and rank=1"),
        [
            Pattern::Samples(named("pause", false), named("resume", false)),
            Pattern::Samples(None, named("a, b..c", true))
        ]
    );
    assert_eq!(of("sample=after setup.."), [Pattern::Samples(named("after setup", false), None)]);
    assert_eq!(of("sample=\"3\"..4"), [Pattern::Samples(named("3", true), number(4))]);
    assert!(parse("sample=1..2").unwrap().needs_samples());
    for text in ["sample=", "sample=3", "sample=..", "sample=5..3", "sample=3..3", "sample=\"a..b"] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains('^'), "{text}: {error}");
    }
    let error = parse("sample=mark").unwrap_err().to_string();
    assert!(error.contains("by number, kind or label"), "{error}");
    assert!(parse("sample=1..2..3").is_err());
}

#[test]
fn errors_point_at_the_place() {
    let error = parse("rank=1 and thred=3").unwrap_err().to_string();
    assert!(error.contains("did you mean `thread`?"), "{error}");
    assert!(error.contains("  rank=1 and thred=3\n             ^^^^^\n"), "{error}");
    for text in
        ["", "rank", "rank=", "rank=a", "rank=3..1", "time=3", "time=2s..1s", "function=\"a", "=3", "a b"]
    {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains('^'), "{text}: {error}");
    }
}

#[test]
fn words_of_other_languages_are_refused_with_the_right_one() {
    for text in ["thread=a or thread=b", "thread=a || thread=b", "thread=1 OR 2"] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains("KEY=VALUE,VALUE"), "{text}: {error}");
    }
    for text in ["thread=a && rank=1", "thread=a AND rank=1"] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains("joined by ` and `"), "{text}: {error}");
    }
    let error = parse("function==x").unwrap_err().to_string();
    assert!(error.contains("function=VALUE"), "{error}");
    assert!(parse("function=\"a or b\"").is_ok());
    assert!(parse("function=operator||, color and thread=for").is_ok());
}

#[test]
fn any_text_is_answered() {
    for text in [
        "é=1",
        "rank=é",
        "sample=é",
        "sample=é..\"",
        "function=é and é=é",
        "function=\"é\"é",
        "time=é..",
        "and and and",
    ] {
        let _ = parse(text).map_err(|error| error.to_string());
    }
}
