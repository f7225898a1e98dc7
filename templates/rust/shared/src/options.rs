//! How a model file is opened.

use std::path::PathBuf;

use ort::environment::Environment;

/// What runs the graph; there is no fall-back from one to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// A GPU of NVIDIA; needs the feature `cuda`, and ONNX Runtime's library for GPUs.
    Cuda,
}

/// How a model file is opened: `Options { threads: Some(1), ..Options::default() }`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What runs the graph.
    pub device: Device,
    /// Threads within one operator; by default one a physical core, or as many as a container leaves.
    pub threads: Option<usize>,
    /// Batches of one call that run side by side, each on so many threads; by default as many as fill the
    /// processors, on a GPU one.
    pub concurrency: Option<usize>,
    /// The path of ONNX Runtime's library, by default what `ORT_DYLIB_PATH` says. A process loads one, the first.
    pub onnxruntime: Option<PathBuf>,
    /// The environment of code that has started ONNX Runtime before, as a process can start it once.
    pub environment: Option<Environment>,
}
