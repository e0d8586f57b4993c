//! The expressions after `--define`, and the units of their parts.
//!
//! ```text
//! definition = name "=" sum
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | number | metric | "(" sum ")"
//! ```
//!
//! Numbers are ratios. Sums need parts of one unit; products and quotients have the unit that follows.

use std::ops::Range;

use proust_profile::Unit;
use thiserror::Error;

use super::{Derived, Metrics, Quantity};
use crate::Measure;

/// Numbers, metrics, signs and parentheses of an expression with those of the definitions that it uses: more
/// are nothing that a person writes, and would not fit on the stack.
const LARGEST: usize = 1000;

/// Why a definition cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DefinitionError {
    /// It is no `NAME=EXPR`.
    #[error("`{0}` defines no metric: write NAME=EXPR, for instance 'io_rate=read_bytes/wall_s'")]
    NoDefinition(String),
    /// The name has other characters.
    #[error("`{0}` cannot be the name of a metric: use letters, digits and `_`, and begin with a letter")]
    Name(String),
    /// The name means something already.
    #[error("`{0}` is a metric already: give the one that you define another name")]
    Known(String),
    /// It has too many parts.
    #[error("the expression of `{0}` has more than {LARGEST} parts: write a shorter one")]
    Large(String),
    /// The text breaks off, or has something that fits nowhere.
    #[error("in `{name}={expression}` {found} stands where {wanted} is needed")]
    Syntax {
        /// The metric that is defined.
        name: String,
        /// The whole expression.
        expression: String,
        /// What stands there.
        found: String,
        /// What is needed.
        wanted: &'static str,
    },
    /// A word is no metric.
    #[error("in `{name}={expression}`: there is no metric `{word}`{}", meant(.nearest))]
    NoMetric {
        /// The metric that is defined.
        name: String,
        /// The whole expression.
        expression: String,
        /// The word.
        word: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// Parts of a sum have different units.
    #[error("in `{name}={expression}`: `{left}` is in {} and `{right}` in {}; only what has the same unit \
             can be added or subtracted", in_words(*.left_unit), in_words(*.right_unit))]
    Units {
        /// The metric that is defined.
        name: String,
        /// The whole expression.
        expression: String,
        /// One part.
        left: String,
        /// Its unit.
        left_unit: Unit,
        /// The other part.
        right: String,
        /// Its unit.
        right_unit: Unit,
    },
    /// No metric occurs.
    #[error("`{name}={expression}` is the same everywhere: name a metric in it")]
    Constant {
        /// The metric that is defined.
        name: String,
        /// The whole expression.
        expression: String,
    },
}

fn meant(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => "; `proust report --help` names the guide that lists them".into(),
    }
}

/// What an expression consists of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Number(f64),
    Measure(Measure),
    Negative(Box<Node>),
    Two(Operator, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Per,
}

impl Node {
    /// None where a divisor is zero.
    pub fn value(&self, amount: &impl Fn(Measure) -> f64) -> Option<f64> {
        Some(match self {
            Node::Number(number) => *number,
            Node::Measure(measure) => amount(*measure),
            Node::Negative(of) => -of.value(amount)?,
            Node::Two(operator, left, right) => {
                let (left, right) = (left.value(amount)?, right.value(amount)?);
                match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left * right,
                    Operator::Per if right == 0.0 => return None,
                    Operator::Per => left / right,
                }
            }
        })
    }

    pub fn each_measure(&self, take: &mut impl FnMut(Measure)) {
        match self {
            Node::Number(_) => {}
            Node::Measure(measure) => take(*measure),
            Node::Negative(of) => of.each_measure(take),
            Node::Two(_, left, right) => {
                left.each_measure(take);
                right.each_measure(take);
            }
        }
    }
}

/// Understands `NAME=EXPR`.
pub(super) fn definition(text: &str, known: &Metrics) -> Result<Derived, DefinitionError> {
    let (name, expression) =
        text.split_once('=').ok_or_else(|| DefinitionError::NoDefinition(text.to_owned()))?;
    let (name, expression) = (name.trim(), expression.trim());
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(is_word) {
        return Err(DefinitionError::Name(name.to_owned()));
    }
    // `--sort name` orders by name.
    if name == "name" || known.find(name).is_some() {
        return Err(DefinitionError::Known(name.to_owned()));
    }
    let mut parser = Parser { name, text: expression, at: 0, size: 0, known };
    let part = parser.sum()?;
    if parser.next().is_some() {
        return Err(parser.found_instead_of("`+`, `-`, `*`, `/` or the end"));
    }
    let derived = Derived {
        name: name.to_owned(),
        expression: expression.to_owned(),
        node: part.node,
        unit: part.unit,
        size: parser.size,
    };
    if derived.bases().is_empty() {
        return Err(DefinitionError::Constant { name: derived.name, expression: derived.expression });
    }
    Ok(derived)
}

/// A part of an expression, with its place in the text.
struct Part {
    node: Node,
    unit: Unit,
    range: Range<usize>,
}

struct Parser<'t> {
    name: &'t str,
    text: &'t str,
    at: usize,
    size: usize,
    known: &'t Metrics,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Part, DefinitionError> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&[('+', Operator::Plus), ('-', Operator::Minus)]) {
            let right = self.product()?;
            if left.unit != right.unit {
                let part = |part: &Part| self.text[part.range.clone()].to_owned();
                return Err(DefinitionError::Units {
                    name: self.name.into(),
                    expression: self.text.into(),
                    left: part(&left),
                    left_unit: left.unit,
                    right: part(&right),
                    right_unit: right.unit,
                });
            }
            let unit = left.unit;
            left = two(operator, left, right, unit);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Part, DefinitionError> {
        let mut left = self.factor()?;
        while let Some(operator) = self.operator(&[('*', Operator::Times), ('/', Operator::Per)]) {
            let right = self.factor()?;
            let unit = match operator {
                Operator::Per => left.unit.per(right.unit),
                _ => left.unit.times(right.unit),
            };
            let unit = unit.ok_or_else(|| self.syntax("too high a power of a unit", "a lower one"))?;
            left = two(operator, left, right, unit);
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Part, DefinitionError> {
        const WANTED: &str = "a metric, a number or `(`";
        self.grows(1)?;
        let Some(first) = self.next() else { return Err(self.found_instead_of(WANTED)) };
        let begin = self.at;
        Ok(if first == '-' {
            self.at += 1;
            let of = self.factor()?;
            Part { node: Node::Negative(Box::new(of.node)), unit: of.unit, range: begin..of.range.end }
        } else if first == '(' {
            self.at += 1;
            let of = self.sum()?;
            if self.next() != Some(')') {
                return Err(self.found_instead_of("`)`"));
            }
            self.at += 1;
            Part { range: begin..self.at, ..of }
        } else if first.is_ascii_digit() || first == '.' {
            self.number()?
        } else if first.is_ascii_alphabetic() {
            self.metric()?
        } else {
            return Err(self.found_instead_of(WANTED));
        })
    }

    fn grows(&mut self, by: usize) -> Result<(), DefinitionError> {
        self.size += by;
        if self.size > LARGEST { Err(DefinitionError::Large(self.name.to_owned())) } else { Ok(()) }
    }

    /// Digits with a point, and an exponent such as `e9` or `e-3`.
    fn number(&mut self) -> Result<Part, DefinitionError> {
        let begin = self.at;
        let rest = &self.text[begin..];
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let mut length = digits(rest);
        if let Some(exponent) = rest[length..].strip_prefix(['e', 'E']) {
            let sign = usize::from(exponent.starts_with(['+', '-']));
            let power = exponent[sign..].bytes().take_while(u8::is_ascii_digit).count();
            length += if power > 0 { 1 + sign + power } else { 0 };
        }
        let number = rest[..length].parse().ok().filter(|number: &f64| number.is_finite());
        let Some(number) = number else { return Err(self.found_instead_of("a number")) };
        self.at += length;
        Ok(Part { node: Node::Number(number), unit: Unit::RATIO, range: begin..self.at })
    }

    fn metric(&mut self) -> Result<Part, DefinitionError> {
        let begin = self.at;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        self.at += self.text[begin..].bytes().take_while(|byte| is_word(byte)).count();
        let word = &self.text[begin..self.at];
        let (node, unit) = match self.known.find(word) {
            Some(Quantity::Measure(measure)) => (Node::Measure(measure), measure.unit()),
            Some(Quantity::Derived(derived)) => {
                self.grows(derived.size)?;
                (derived.node.clone(), derived.unit)
            }
            None => {
                return Err(DefinitionError::NoMetric {
                    name: self.name.into(),
                    expression: self.text.into(),
                    word: word.into(),
                    nearest: self.known.nearest(word),
                });
            }
        };
        Ok(Part { node, unit, range: begin..self.at })
    }

    fn operator(&mut self, operators: &[(char, Operator)]) -> Option<Operator> {
        let next = self.next()?;
        let operator = operators.iter().find(|(sign, _)| *sign == next)?.1;
        self.at += next.len_utf8();
        Some(operator)
    }

    /// The next character that is no space.
    fn next(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn found_instead_of(&self, wanted: &'static str) -> DefinitionError {
        match &self.text[self.at..] {
            "" => self.syntax("the end", wanted),
            rest => self.syntax(&format!("`{rest}`"), wanted),
        }
    }

    fn syntax(&self, found: &str, wanted: &'static str) -> DefinitionError {
        let (name, expression) = (self.name.into(), self.text.into());
        DefinitionError::Syntax { name, expression, found: found.into(), wanted }
    }
}

fn two(operator: Operator, left: Part, right: Part, unit: Unit) -> Part {
    let range = left.range.start..right.range.end;
    Part { node: Node::Two(operator, Box::new(left.node), Box::new(right.node)), unit, range }
}

/// A unit as a sentence names it.
fn in_words(unit: Unit) -> String {
    match unit {
        Unit::SECONDS => "seconds (s)".into(),
        Unit::RATIO => "no unit (a ratio)".into(),
        unit => unit.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proust_profile::Metric;

    use super::*;

    fn one(text: &str) -> Result<Derived, DefinitionError> {
        definition(text, &Metrics::default())
    }

    /// Amounts that are easy to compute with by hand.
    fn amount(measure: Measure) -> f64 {
        match measure {
            Measure::Wall => 8.0,
            Measure::Metric(Metric::Cpu) => 2.0,
            Measure::Metric(Metric::ReadBytes) => 24.0,
            Measure::Metric(Metric::Waits) => 4.0,
            _ => 0.0,
        }
    }

    #[test]
    fn expressions_are_computed_with_their_units() {
        for (text, unit, value) in [
            ("x=cpu_s/wall_s", "ratio", Some(0.25)),
            ("x = read_bytes / wall", "bytes/s", Some(3.0)),
            ("x=waits/wall_s", "count/s", Some(0.5)),
            ("x=1 - cpu_s/wall_s", "ratio", Some(0.75)),
            ("x=wall_s-cpu_s-cpu_s", "s", Some(4.0)),
            ("x=wall_s/cpu_s/2", "ratio", Some(2.0)),
            ("x=wall_s+cpu_s*2", "s", Some(12.0)),
            ("x=2*(wall_s+cpu_s)", "s", Some(20.0)),
            ("x=-cpu_s", "s", Some(-2.0)),
            ("x=1e-3*read_bytes", "bytes", Some(0.024)),
            ("x=cpu_s*wall_s", "s²", Some(16.0)),
            ("x=cpu_s/lock_s", "ratio", None),
            ("x=lock_s/cpu_s", "ratio", Some(0.0)),
        ] {
            let derived = one(text).expect(text);
            assert_eq!((derived.unit().to_string().as_str(), derived.of(amount)), (unit, value), "{text}");
        }
    }

    /// Ratios written down with all their parentheses, and what they are.
    fn ratios() -> impl Strategy<Value = (String, Option<f64>)> {
        let leaf = prop_oneof![
            (0..50_u32).prop_map(|n| (format!("{n}"), Some(f64::from(n)))),
            Just(("cpu_s/wall_s".to_owned(), Some(0.25))),
            Just(("waits / waits".to_owned(), Some(1.0))),
            Just(("cpu_s/lock_s".to_owned(), None)),
        ];
        leaf.prop_recursive(5, 40, 2, |part| {
            (part.clone(), prop::sample::select(vec!['+', '-', '*', '/']), part).prop_map(
                |((left, a), sign, (right, b))| {
                    let value = a.zip(b).and_then(|(a, b)| match sign {
                        '+' => Some(a + b),
                        '-' => Some(a - b),
                        '*' => Some(a * b),
                        _ => (b != 0.0).then(|| a / b),
                    });
                    (format!("({left}){sign}({right})"), value)
                },
            )
        })
    }

    proptest! {
        #[test]
        fn values_are_those_of_the_operators((text, value) in ratios()) {
            match one(&format!("x={text}")) {
                Ok(derived) => {
                    prop_assert_eq!(derived.unit(), Unit::RATIO);
                    prop_assert_eq!(derived.of(amount), value.filter(|value| value.is_finite()));
                }
                Err(error) => prop_assert!(matches!(error, DefinitionError::Constant { .. }), "{}", error),
            }
        }

        #[test]
        fn any_text_is_understood_or_refused(text in "[a-z_0-9+*/(). =é\\-]{0,40}|cpu_s[+*/( é-]{0,9}cpu_s") {
            for text in [text.clone(), format!("x={text}")] {
                if let Err(error) = one(&text) {
                    prop_assert!(!error.to_string().is_empty());
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text: &str| one(text).expect_err(text).to_string();
        for (text, words) in [
            ("x=wall_s+read_bytes", "`wall_s` is in seconds (s) and `read_bytes` in bytes"),
            ("x=1+cpu_s", "`1` is in no unit (a ratio) and `cpu_s` in seconds (s)"),
            ("x=cpu_s/wall_s-waits*2", "`cpu_s/wall_s` is in no unit (a ratio) and `waits*2` in count"),
            ("x=cpu_x/wall_s", "there is no metric `cpu_x`; did you mean `cpu_s`?"),
            ("x=", "the end stands where a metric"),
            ("x=(cpu_s", "the end stands where `)`"),
            ("x=cpu_s)", "`)` stands where"),
            ("x=cpu_s wall_s", "`wall_s` stands where"),
            ("x=cpu_s**2", "`*2` stands where a metric"),
            ("x=é", "`é` stands where"),
            ("x=1..2*cpu_s", "stands where a number"),
            ("x=wall_s/1.5E+1e0", "`e0` stands where"),
            ("x=3", "name a metric in it"),
            ("cpu_s", "write NAME=EXPR"),
            ("1x=cpu_s", "cannot be the name"),
            ("a b=cpu_s", "cannot be the name"),
            ("cpu=wall_s", "`cpu` is a metric already"),
            ("name=wall_s", "`name` is a metric already"),
        ] {
            let message = message(text);
            assert!(message.contains(words), "{text}: {message}");
        }
        for long in
            [format!("x={}cpu_s", "-".repeat(100_000)), format!("x=cpu_s{}", "+cpu_s".repeat(100_000))]
        {
            assert!(one(&long).is_err_and(|error| error.to_string().len() < 300));
        }
    }

    #[test]
    fn a_definition_may_use_those_before_it() {
        let metrics = Metrics::defined(["busy=cpu_s/wall_s", "free=1-busy"]).unwrap();
        let free = metrics.find("free").unwrap();
        assert_eq!(free.derived().unwrap().of(amount), Some(0.75));
        assert_eq!(free.unit(), Unit::RATIO);
        // Each doubles what it consists of.
        let doubling: Vec<String> = (0..64).map(|n| format!("x{}=x{n}+x{n}", n + 1)).collect();
        let all = ["x0=cpu_s"].into_iter().chain(doubling.iter().map(String::as_str));
        assert!(matches!(Metrics::defined(all), Err(DefinitionError::Large(_))));
        assert!(Metrics::defined(["free=1-busy", "busy=cpu_s/wall_s"]).is_err());
        assert!(Metrics::defined(["busy=cpu_s/wall_s", "busy=cpu_s/wall_s"]).is_err());
    }
}
