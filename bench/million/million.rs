use std::{env, fs, time::Instant};
use all_minilm_l6_v2::Embedder;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let count: usize = arguments[2].parse().unwrap();
    let begin = Instant::now();
    let embedder = Embedder::open(&arguments[1]).unwrap();
    let mut done = 0;
    while done < count {
        let end = (done + 8192).min(if done < count / 10 { count / 10 } else { count });
        let texts: Vec<String> = (done..end).map(|n| format!("text number {n}")).collect();
        embedder.embed(&texts, None).unwrap();
        done = end;
        if done == count / 10 || done == count {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.split("VmRSS:").nth(1).unwrap();
            let kilobytes: usize = line.split_whitespace().next().unwrap().parse().unwrap();
            println!("{} {}", kilobytes / 1000, begin.elapsed().as_secs_f64());
        }
    }
}
