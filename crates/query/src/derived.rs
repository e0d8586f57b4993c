//! Metrics that a user derives from others by an expression, with the unit that follows.

mod grammar;

use std::collections::BTreeSet;
use std::sync::Arc;

use proust_profile::Unit;
use proust_words::nearest::nearest;

use crate::Measure;
use grammar::Node;

pub use grammar::DefinitionError;

/// A metric by expression: `io_rate = read_bytes/wall_s`.
///
/// It is no sum: of several contexts or locations together it is computed from the sums of what it is
/// computed of, and an inclusive value from inclusive values.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    name: String,
    expression: String,
    node: Node,
    unit: Unit,
    /// Of how many parts it consists.
    size: usize,
}

impl Derived {
    /// What it is called on the command line and in JSON.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is computed, as the user wrote it.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The unit that follows from the expression.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The measures that it is computed of, each once; there is at least one.
    pub fn bases(&self) -> Vec<Measure> {
        let mut bases = BTreeSet::new();
        self.node.each_measure(&mut |measure| {
            bases.insert(measure);
        });
        bases.into_iter().collect()
    }

    /// Its value where the measures have these amounts; None where a divisor is zero.
    pub fn of(&self, amount: impl Fn(Measure) -> f64) -> Option<f64> {
        self.node.value(&amount).filter(|value| value.is_finite())
    }
}

/// What a column counts: a measure, or what a user derives from measures.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A measure.
    Measure(Measure),
    /// What the user defined.
    Derived(Arc<Derived>),
}

impl Quantity {
    /// Identifier on the command line and in JSON.
    pub fn id(&self) -> String {
        match self {
            Quantity::Measure(measure) => measure.id(),
            Quantity::Derived(derived) => derived.name.clone(),
        }
    }

    /// Unit of its values.
    pub fn unit(&self) -> Unit {
        match self {
            Quantity::Measure(measure) => measure.unit(),
            Quantity::Derived(derived) => derived.unit,
        }
    }

    /// The measure that it is, if it is one.
    pub fn measure(&self) -> Option<Measure> {
        match self {
            Quantity::Measure(measure) => Some(*measure),
            Quantity::Derived(_) => None,
        }
    }

    /// What was defined, if it is derived.
    pub fn derived(&self) -> Option<&Arc<Derived>> {
        match self {
            Quantity::Measure(_) => None,
            Quantity::Derived(derived) => Some(derived),
        }
    }
}

impl<M: Into<Measure>> From<M> for Quantity {
    fn from(measure: M) -> Quantity {
        Quantity::Measure(measure.into())
    }
}

/// The metrics that can be asked for: all measures, and what the user derives from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    derived: Vec<Arc<Derived>>,
}

impl Metrics {
    /// The measures, and these definitions: `NAME=EXPR` each. One may use those before it.
    ///
    /// # Errors
    /// When one cannot be understood, or its units do not fit.
    pub fn defined<'t>(definitions: impl IntoIterator<Item = &'t str>) -> Result<Metrics, DefinitionError> {
        let mut metrics = Metrics::default();
        for text in definitions {
            let derived = grammar::definition(text, &metrics)?;
            metrics.derived.push(Arc::new(derived));
        }
        Ok(metrics)
    }

    /// What the user derives, in the order of the definitions.
    pub fn derived(&self) -> &[Arc<Derived>] {
        &self.derived
    }

    /// What a word means: a measure with or without its `_s`, or a derived metric.
    pub fn find(&self, word: &str) -> Option<Quantity> {
        if let Some(derived) = self.derived.iter().find(|derived| derived.name == word) {
            return Some(Quantity::Derived(derived.clone()));
        }
        // The unit says nothing new where there is no other measure of that name.
        let measure = Measure::from_id(word).or_else(|| Measure::from_id(&format!("{word}_s")));
        measure.map(Quantity::Measure)
    }

    /// All words that can be asked for.
    pub fn ids(&self) -> Vec<String> {
        Measure::all()
            .map(Measure::id)
            .chain(self.derived.iter().map(|derived| derived.name.clone()))
            .collect()
    }

    /// The word that was probably meant.
    pub fn nearest(&self, word: &str) -> Option<String> {
        let known = self.ids();
        nearest(word, known.iter().map(String::as_str), 1).first().map(|meant| (*meant).to_owned())
    }
}
