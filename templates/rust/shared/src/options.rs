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

/// How a model file is opened; `Options::new()` has what suits most.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) device: Device,
    pub(crate) threads: Option<usize>,
    pub(crate) concurrency: Option<usize>,
    pub(crate) onnxruntime: Option<PathBuf>,
    pub(crate) environment: Option<Environment>,
}

impl Options {
    /// The CPU, as many threads as suit it, and the library that `ORT_DYLIB_PATH` names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What runs the graph.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Threads within one operator; by default one a physical core, or as many as a container, a
    /// control group or an affinity mask lets the process use.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Batches of one call that run side by side, each on so many threads; by default as many as
    /// fill the processors, on a GPU one.
    #[must_use]
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = Some(concurrency);
        self
    }

    /// The path of ONNX Runtime's library. A process loads one, the first that is asked for.
    #[must_use]
    pub fn onnxruntime(mut self, library: impl Into<PathBuf>) -> Self {
        self.onnxruntime = Some(library.into());
        self
    }

    /// The environment of code that started ONNX Runtime before: a process can have one.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }
}
