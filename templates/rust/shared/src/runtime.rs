//! ONNX Runtime's library, which whoever runs this crate brings.

use std::{
    env,
    path::Path,
    sync::{Mutex, PoisonError},
};

use ort::{LoadDynamicError, environment::Environment};

use crate::error::Error;

const LIBRARY: &str = "ORT_DYLIB_PATH";
const TELEMETRY: &str = "ORT_DISABLE_TELEMETRY";

/// The environment that this crate made: a process can make one.
static STARTED: Mutex<Option<Environment>> = Mutex::new(None);

/// Load the library and start it, unless that was done.
pub(crate) fn start(library: Option<&Path>) -> Result<Environment, Error> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*started {
        return Ok(environment.clone());
    }
    if env::var_os(TELEMETRY).is_none_or(|value| value.is_empty()) {
        // SAFETY: Rust's own code reads the environment behind a lock. Foreign code may read it on another thread
        // meanwhile; a program that has such code sets the variable itself, as the README says.
        unsafe { env::set_var(TELEMETRY, "1") } // from 1.29 on it is read as the library is loaded
    }
    let given = env::var_os(LIBRARY).filter(|path| !path.is_empty());
    let own = format!("{}onnxruntime{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let library = library.map_or_else(|| given.unwrap_or_else(|| own.into()).into(), Path::to_path_buf);
    let builder = ort::init_from(&library).map_err(|error| not_loaded(&library, error))?;
    let telemetry = env::var_os(TELEMETRY).is_none_or(|value| value != "1");
    let environment = builder.with_telemetry(telemetry).build().map_err(|error| {
        let problem = format!("ONNX Runtime cannot be started ({error})");
        let remedy = "where other code has started it, give its environment in the options";
        Error::Runtime(format!("{problem}; {remedy}"), Some(error.into()))
    })?;
    Ok(started.insert(environment).clone())
}

fn not_loaded(library: &Path, error: LoadDynamicError) -> Error {
    let problem = match &error {
        LoadDynamicError::BadVersion { version_str, .. } => format!("is ONNX Runtime {version_str}"),
        LoadDynamicError::Dlopen { error, .. } => format!("cannot be loaded ({error})"),
        _ => "is not ONNX Runtime".into(),
    };
    let needed =
        format!("1.{} or newer is needed; name its library by {LIBRARY} or in the options", ort::MINOR_VERSION);
    Error::Runtime(format!("{} {problem}; {needed}", library.display()), Some(error.into()))
}
