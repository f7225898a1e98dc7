//! ONNX Runtime's library, which whoever runs this crate brings.

use std::{
    env,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ort::{LoadDynamicError, environment::Environment};

use crate::error::Error;

const LIBRARY: &str = "ORT_DYLIB_PATH";
const TELEMETRY: &str = "ORT_DISABLE_TELEMETRY";

/// The environment that this crate made: a process can make one.
static STARTED: Mutex<Option<Environment>> = Mutex::new(None);

/// Load the library, unless that was done, and start it.
pub(crate) fn start(library: Option<&Path>) -> Result<Environment, Error> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*started {
        return Ok(environment.clone());
    }
    turn_telemetry_off();
    let library = library.map_or_else(default_library, Path::to_path_buf);
    let builder = ort::init_from(&library).map_err(|error| not_loaded(&library, error))?;
    let environment = builder
        .with_telemetry(!is_off())
        .build()
        .map_err(not_started)?;
    Ok(started.insert(environment).clone())
}

/// What the variable names, or the system's own.
fn default_library() -> PathBuf {
    env::var_os(LIBRARY)
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| {
            let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
            format!("{prefix}onnxruntime{suffix}").into()
        })
        .into()
}

fn not_loaded(library: &Path, error: LoadDynamicError) -> Error {
    let problem = match &error {
        LoadDynamicError::BadVersion { version_str, .. } => {
            format!("is ONNX Runtime {version_str}")
        }
        LoadDynamicError::Dlopen { error, .. } => format!("cannot be loaded ({error})"),
        _ => "is not ONNX Runtime's library".into(),
    };
    let needed = format!(
        "{} {problem}; this crate needs version 1.{} or newer: \
         name its library by {LIBRARY}, or by Options::onnxruntime",
        library.display(),
        ort::MINOR_VERSION
    );
    Error::runtime(needed).caused_by(error)
}

fn not_started(error: ort::Error) -> Error {
    Error::runtime(format!(
        "ONNX Runtime cannot be started ({error}); \
         where other code has started it, give its environment to Options::environment"
    ))
    .caused_by(error)
}

fn is_off() -> bool {
    env::var_os(TELEMETRY).is_some_and(|value| value == "1")
}

/// From 1.29 on ONNX Runtime sends telemetry unless this is set before it is loaded.
fn turn_telemetry_off() {
    if env::var_os(TELEMETRY).is_none_or(|value| value.is_empty()) {
        // SAFETY: Rust's own code reads the environment behind a lock. Foreign code that reads it
        // on another thread meanwhile is why the README says to set the variable beforehand.
        unsafe { env::set_var(TELEMETRY, "1") }
    }
}
