//! How long a thread runs from one sample to the next: gamma distributed, of shape 4.
//!
//! Instants at regular distances alias with what the program repeats: five phases of equal cost that take
//! 20 ms together seem to differ by a factor of two. Distances that are drawn do not, if the distribution has
//! no period of its own: a uniform one resonates at periods near its mean, the exponential one spends half
//! of the samples on clusters. Sums of four exponential distances have neither fault: the spectrum of the
//! instants is at most 1.02 times that of instants without any order, at any period.
//!
//! Draws go through a table of quantiles and straight lines between them, so no logarithm is needed in the
//! signal handler.

/// Quantiles, and as many straight pieces between them.
const PIECES: usize = 256;
/// Of an exponential distance, in units of the mean distance: four of them make one.
const SHAPE: u32 = 4;
/// The shortest distance, as a part of the mean one: a sample must not interrupt the one before.
const SHORTEST: f64 = 0.2;
/// Fixed point: so many parts are the mean distance.
const ONE: f64 = 65_536.0;

/// Quantiles of a distance, in parts of the mean one.
struct Quantiles([u32; PIECES + 1]);

/// From one sample to the next.
static DISTANCES: Quantiles = Quantiles::of_gamma(SHAPE, SHORTEST);
/// The distance around a randomly selected instant: longer ones are met more often.
static AROUND: Quantiles = Quantiles::of_gamma(SHAPE + 1, 0.0);

/// e^-x for x from 0 to 64.
const fn exp_of_minus(x: f64) -> f64 {
    let small = x / 64.0;
    let (mut term, mut sum, mut n) = (1.0, 1.0, 1);
    while n < 18 {
        term *= -small / n as f64;
        sum += term;
        n += 1;
    }
    let mut squarings = 0;
    while squarings < 6 {
        sum *= sum;
        squarings += 1;
    }
    sum
}

/// The probability of more than `x` for a gamma distribution of integer shape and scale 1, and the density
/// there.
const fn above(shape: u32, x: f64) -> (f64, f64) {
    let exp = exp_of_minus(x);
    let (mut term, mut sum, mut n) = (1.0, 1.0, 1);
    while n < shape {
        term *= x / n as f64;
        sum += term;
        n += 1;
    }
    (exp * sum, exp * term)
}

impl Quantiles {
    const fn of_gamma(shape: u32, shortest: f64) -> Quantiles {
        let mut quantiles = [0_u32; PIECES + 1];
        let scale = ONE / SHAPE as f64;
        let (mut at, mut x) = (1, 0.5);
        while at < PIECES {
            let wanted = 1.0 - at as f64 / PIECES as f64;
            let mut round = 0;
            while round < 12 {
                let (above, density) = above(shape, x);
                let next = x + (above - wanted) / density;
                x = if next < x / 2.0 { x / 2.0 } else { next };
                round += 1;
            }
            let parts = x * scale;
            quantiles[at] = if parts < shortest * ONE { shortest * ONE } else { parts } as u32;
            at += 1;
        }
        quantiles[0] = (shortest * ONE) as u32;
        // The last piece has no end. It gets the one with which its mean is right: the part beyond x has the
        // mean shape · P(shape + 1 > x) / P(shape > x).
        let mean = shape as f64 * above(shape + 1, x).0 * PIECES as f64;
        quantiles[PIECES] = ((2.0 * mean - x) * scale) as u32;
        Quantiles(quantiles)
    }

    /// The value at a place that `random` chooses, times `unit`.
    fn draw(&self, random: u64, unit: u64) -> u64 {
        let at = (random >> 56) as usize;
        let (low, high) = (u64::from(self.0[at]), u64::from(self.0[at + 1]));
        let place = (random >> 40) & 0xffff;
        let parts = (low << 16) + (high - low) * place;
        ((u128::from(parts) * u128::from(unit)) >> 32) as u64
    }
}

/// Random numbers of one thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random(pub u64);

impl Random {
    /// The next number. A step of a counter, mixed (SplitMix64): any seed will do.
    pub fn take(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From one sample to the next, where the mean distance is `mean_ns`.
    pub fn distance_ns(&mut self, mean_ns: u64) -> u64 {
        DISTANCES.draw(self.take(), mean_ns)
    }

    /// From where sampling begins to the first sample: as if it had been running since long before. Were it a
    /// whole distance, what short threads do at first would hardly be seen.
    pub fn first_ns(&mut self, mean_ns: u64) -> u64 {
        let around_ns = AROUND.draw(self.take(), mean_ns);
        ((u128::from(around_ns) * u128::from(self.take())) >> 64) as u64
    }
}

#[cfg(test)]
mod tests;
