//! Which rows run together.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{
    Error,
    batches::{cut, feed, run},
    contract::CONTRACT,
    rows::Row,
};

fn rows(lengths: impl IntoIterator<Item = usize>) -> Vec<Row> {
    lengths.into_iter().map(|length| vec![0; length]).collect()
}

fn pool() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(2).build().unwrap()
}

#[test]
fn batches_begin_with_the_longest_rows_and_keep_their_budget() {
    let batches = cut(&rows([4, 13, 4, 5, 4, 4, 0]), 12);
    assert_eq!(batches, [vec![1], vec![3, 0], vec![2, 4, 5], vec![6]]);
}

#[test]
fn attention_stays_small() {
    for (length, most) in [(512, 32), (1024, 8), (2048, 2), (100_000, 1)] {
        let batches = cut(&rows(vec![length; most + 1]), 16_384);
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [most, 1]);
    }
}

#[test]
fn inputs_are_what_their_feed_says() {
    let pad = i64::from(CONTRACT.pad_id);
    let rows = [vec![7, 8, 9], vec![6]];
    for input in &CONTRACT.inputs {
        let right = CONTRACT.pad_side == "right";
        let expected = match input.feed.as_str() {
            "input_ids" if right => vec![7, 8, 9, 6, pad, pad],
            "input_ids" => vec![7, 8, 9, pad, pad, 6],
            "attention_mask" if right => vec![1, 1, 1, 1, 0, 0],
            "attention_mask" => vec![1, 1, 1, 0, 0, 1],
            "token_type_ids" => vec![0; 6],
            "position_ids" => vec![0, 1, 2, 0, 0, 0],
            _ => vec![input.values[""]],
        };
        let shape = if input.feed == "prompt_value" { vec![1] } else { vec![2, 3] };
        assert_eq!(feed(input, &[&rows[0], &rows[1]], None), (shape, expected), "{}", input.feed);
        for (prompt, value) in &input.values {
            assert_eq!(feed(input, &[&rows[0]], Some(prompt)), (vec![1], vec![*value]));
        }
    }
}

#[test]
fn two_batches_run_side_by_side_and_their_order_is_restored() {
    let together = Barrier::new(2);
    let lengths = run(&rows([4, 3, 4, 3]), 4, Some(&pool()), |batch| {
        together.wait(); // no batch would end without another
        Ok(batch.iter().map(|row| row.len()).collect())
    });
    assert_eq!(lengths.unwrap(), [4, 3, 4, 3]);
}

#[test]
fn rows_beyond_the_budget_run_alone() {
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found = run(&rows([9, 8, 7]), 1, Some(&pool()), |batch| {
        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        running.fetch_sub(1, Ordering::SeqCst);
        Ok(vec![batch[0].len()])
    });
    assert_eq!((found.unwrap(), most.into_inner()), (vec![9, 8, 7], 1));
}

#[test]
fn an_error_ends_all() {
    for pool in [None, Some(&pool())] {
        let begun = AtomicUsize::new(0);
        let found = run(&rows(vec![1; 1000]), 1, pool, |_| -> Result<Vec<u8>, Error> {
            begun.fetch_add(1, Ordering::SeqCst);
            Err(Error::OutOfRange("no such batch".into()))
        });
        assert_eq!(found.unwrap_err().to_string(), "no such batch");
        assert!(begun.load(Ordering::SeqCst) < 1000);
    }
}
