//! Points are put into clusters: threads sum up equal shares, and centres are moved between the rounds.

use std::num::NonZero;
use std::thread;

const CLUSTERS: usize = 24;
const AXES: usize = 8;

type Point = [f32; AXES];
type Sums = [([f64; AXES], usize); CLUSTERS];

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

fn distance(a: &Point, b: &Point) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[inline(never)]
fn sum_up(points: &[Point], centres: &[Point; CLUSTERS]) -> Sums {
    let mut sums: Sums = [([0.0; AXES], 0); CLUSTERS];
    for point in points {
        let (mut nearest, mut least) = (0, f32::MAX);
        for (number, centre) in centres.iter().enumerate() {
            let away = distance(point, centre);
            if away < least {
                (nearest, least) = (number, away);
            }
        }
        sums[nearest].1 += 1;
        sums[nearest].0.iter_mut().zip(point).for_each(|(sum, &value)| *sum += value as f64);
    }
    sums
}

fn move_centres(centres: &mut [Point; CLUSTERS], shares: &[Sums]) {
    for (number, centre) in centres.iter_mut().enumerate() {
        let count: usize = shares.iter().map(|share| share[number].1).sum();
        for (axis, value) in centre.iter_mut().enumerate() {
            let sum: f64 = shares.iter().map(|share| share[number].0[axis]).sum();
            *value = if count > 0 { (sum / count as f64) as f32 } else { *value };
        }
    }
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let mut state = 20261127_u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / 16777216.0
    };
    let points: Vec<Point> = (0..100_000 * processors()).map(|_| [(); AXES].map(|_| random())).collect();
    let mut centres: [Point; CLUSTERS] = std::array::from_fn(|number| points[number * 31]);
    for _ in 0..180 {
        let shares: Vec<Sums> = thread::scope(|scope| {
            let centres = &centres;
            let part = |share| scope.spawn(move || sum_up(share, centres));
            let running: Vec<_> = points.chunks(points.len().div_ceil(threads)).map(part).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        move_centres(&mut centres, &shares);
    }
    println!("{:.3}", centres.iter().flatten().sum::<f32>());
}
