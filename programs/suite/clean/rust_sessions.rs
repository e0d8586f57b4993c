//! Many sessions, each a thread that waits for its answers, are served by a few threads that compute.

use std::num::NonZero;
use std::sync::{mpsc, Mutex};
use std::thread;

const SESSIONS: usize = 24;
const QUESTIONS: usize = 45;

struct Question {
    value: f64,
    answer_to: mpsc::Sender<f64>,
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

#[inline(never)]
fn compute(mut value: f64) -> f64 {
    for _ in 0..200_000 {
        value = (value * 1.0000001 + 0.75).sqrt() + 0.1;
    }
    value
}

#[inline(never)]
fn serve(questions: &Mutex<mpsc::Receiver<Question>>) {
    loop {
        let taken = questions.lock().unwrap().recv();
        let Ok(question) = taken else { return };
        question.answer_to.send(compute(question.value)).unwrap();
    }
}

#[inline(never)]
fn converse(session: usize, questions: usize, server: &mpsc::Sender<Question>) -> f64 {
    let (answer_to, answers) = mpsc::channel();
    let mut sum = 0.0;
    for number in 0..questions {
        let value = (session * questions + number) as f64;
        server.send(Question { value, answer_to: answer_to.clone() }).unwrap();
        sum += answers.recv().unwrap();
    }
    sum
}

fn main() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let threads = if asked > 0 { asked } else { processors() };
    let questions = QUESTIONS * processors();
    let (to_server, taken) = mpsc::channel();
    let taken = Mutex::new(taken);
    let sum: f64 = thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| serve(&taken));
        }
        let start = |session| {
            let server = to_server.clone();
            scope.spawn(move || converse(session, questions, &server))
        };
        let sessions: Vec<_> = (0..SESSIONS).map(start).collect();
        drop(to_server);
        sessions.into_iter().map(|session| session.join().unwrap()).sum()
    });
    println!("{sum:.3}");
}
