//! What callers get.

use std::thread;

use super::{EMBEDDER, assert_near, model};
use crate::{Device, Embedder, Error, Options, contract::CONTRACT, model::WINDOW};

const TEXTS: [&str; 4] = ["a short text", "", "a text of several more words than the other ones have", "two words"];

#[test]
fn no_vector_depends_on_its_neighbours() {
    let together = EMBEDDER.embed(&TEXTS, None).unwrap();
    let reversed: Vec<_> = TEXTS.into_iter().rev().map(String::from).collect();
    let reversed = EMBEDDER.embed(&reversed, None).unwrap();
    assert_near(&reversed.into_iter().rev().collect::<Vec<_>>(), &together);
    let alone = TEXTS.map(|text| EMBEDDER.embed(&[text], None).unwrap().remove(0));
    assert_near(&alone, &together);
    let rows = EMBEDDER.tokenize(&TEXTS, None).unwrap();
    assert_near(&EMBEDDER.embed_ids(&rows, None).unwrap(), &together);
}

#[test]
fn a_list_of_more_than_a_window_is_embedded_whole_in_its_order() {
    let mut texts = vec![""; WINDOW];
    texts.extend(["first", "last one"]);
    let vectors = EMBEDDER.embed(&texts, None).unwrap();
    assert_eq!(vectors.len(), WINDOW + 2);
    assert_near(&vectors[WINDOW..], &EMBEDDER.embed(&["first", "last one"], None).unwrap());
    assert_near(&vectors[..1], &EMBEDDER.embed(&[""], None).unwrap());
}

#[test]
fn prompts_are_put_before_the_text() {
    let texts = &["x y"];
    for (name, prompt) in EMBEDDER.prompts() {
        let rows = EMBEDDER.model.rows(&[&format!("{prompt}x y")], None).unwrap();
        assert_eq!(EMBEDDER.tokenize(texts, Some(name)).unwrap(), rows);
        let vectors = EMBEDDER.model.run(&rows, Some(name)).unwrap();
        assert_near(&EMBEDDER.embed(texts, Some(name)).unwrap(), &vectors);
        assert_near(&EMBEDDER.embed_ids(&rows, Some(name)).unwrap(), &vectors);
    }
}

#[test]
fn where_no_prompt_is_named_the_default_applies() {
    let standard = CONTRACT.default_prompt.as_deref();
    let rows = EMBEDDER.model.rows(&TEXTS, standard).unwrap();
    let vectors = EMBEDDER.model.run(&rows, standard).unwrap();
    assert_eq!(EMBEDDER.tokenize(&TEXTS, None).unwrap(), rows);
    assert_near(&EMBEDDER.embed(&TEXTS, None).unwrap(), &vectors);
    assert_near(&EMBEDDER.embed_ids(&rows, None).unwrap(), &vectors);
}

#[test]
fn queries_and_documents_take_their_prompts_and_not_the_default() {
    let vectors = |names: &[&str]| {
        let prompt = names.iter().copied().find(|name| CONTRACT.prompts.contains_key(*name));
        EMBEDDER.model.outputs(&TEXTS, prompt, |vector| vector).unwrap()
    };
    let queries = vectors(&["query"]);
    assert_near(&EMBEDDER.embed_queries(&TEXTS).unwrap(), &queries);
    assert_near(&[EMBEDDER.embed_query(TEXTS[0]).unwrap()], &queries[..1]);
    let documents = vectors(&["document", "passage", "corpus"]);
    assert_near(&EMBEDDER.embed_documents(&TEXTS).unwrap(), &documents);
}

#[test]
fn nothing_gives_nothing_and_a_row_without_ids_is_all_padding() {
    let none = [""; 0];
    assert!(EMBEDDER.embed(&none, None).unwrap().is_empty());
    assert!(EMBEDDER.embed_documents(&none).unwrap().is_empty());
    assert!(EMBEDDER.tokenize(&none, None).unwrap().is_empty());
    assert!(EMBEDDER.embed_ids(&[], None).unwrap().is_empty());
    assert_eq!(EMBEDDER.embed_ids(&[vec![]], None).unwrap()[0].len(), EMBEDDER.dimension());
}

#[test]
fn threads_share_an_embedder() {
    let expected = EMBEDDER.embed(&TEXTS, None).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(EMBEDDER.embed(&TEXTS, None).unwrap(), expected));
        }
    });
}

#[test]
fn however_many_batches_run_at_a_time_the_vectors_have_the_same_bits() {
    let texts: Vec<_> = (0..200).map(|number| "word ".repeat(1 + 7 * number % 31)).collect();
    let most = thread::available_parallelism().map_or(1, |processors| processors.get().min(2));
    let [one, several] = [1, most].map(|concurrency| {
        let options = Options { threads: Some(1), concurrency: Some(concurrency), ..Options::default() };
        Embedder::open_with(model(), &options).unwrap().embed(&texts, None).unwrap()
    });
    assert_eq!(one, several);
}

#[test]
fn a_second_model_takes_the_environment_of_the_first() {
    let environment = Some(EMBEDDER.environment().clone());
    let second = Embedder::open_with(model(), &Options { environment, ..Options::default() }).unwrap();
    assert_eq!(second.embed(&TEXTS, None).unwrap(), EMBEDDER.embed(&TEXTS, None).unwrap());
}

#[test]
fn cuda_is_had_or_refused() {
    match Embedder::open_with(model(), &Options { device: Device::Cuda, ..Options::default() }) {
        Ok(embedder) => assert_eq!(embedder.provider(), "CUDAExecutionProvider"),
        Err(Error::Device(message, _)) => assert!(message.starts_with("device \"cuda\" "), "{message}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn facts_are_those_of_the_file() {
    assert_eq!(format!("{:?}", *EMBEDDER), format!("Embedder({}, CPUExecutionProvider)", EMBEDDER.name()));
    assert_eq!(EMBEDDER.max_length(), CONTRACT.max_length);
    assert_eq!(EMBEDDER.fingerprint().len(), 64);
}
