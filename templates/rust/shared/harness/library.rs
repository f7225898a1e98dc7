//! ONNX Runtime's library where `prepare` has put it, and versions of what runs here.

use std::{
    env,
    ffi::CStr,
    fs,
    path::{Path, PathBuf},
};

type Base = unsafe extern "C" fn() -> *const ort::sys::OrtApiBase;

/// The library in the wheel that was installed for the device, unless the user names one.
pub fn installed(device: &str) -> Option<PathBuf> {
    if env::var_os("ORT_DYLIB_PATH").is_some() {
        return None;
    }
    let folder = match device {
        "cuda" => ".onnxruntime-gpu",
        _ => ".onnxruntime",
    };
    let library = format!("{}onnxruntime.", env::consts::DLL_PREFIX);
    let files = fs::read_dir(PathBuf::from(folder).join("onnxruntime/capi")).ok()?;
    let named = |name: &str| name.starts_with(&library) && name.contains(env::consts::DLL_SUFFIX);
    let mut paths = files.filter_map(|file| Some(file.ok()?.path()));
    let found = paths.find(|path| path.file_name().is_some_and(|name| named(&name.to_string_lossy())));
    found.and_then(|path| path.canonicalize().ok())
}

/// What ONNX Runtime, which is loaded by now, says of itself.
pub fn runtime_version(library: Option<&Path>) -> String {
    let named = || env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    let version = library.map(Path::to_path_buf).or_else(named).and_then(|library| {
        // SAFETY: the library is loaded, and exports this function with this type.
        unsafe {
            let library = libloading::Library::new(library).ok()?;
            let base = library.get::<Base>(b"OrtGetApiBase").ok()?;
            let version = CStr::from_ptr(((*base()).GetVersionString)());
            Some(version.to_string_lossy().into_owned())
        }
    });
    version.unwrap_or_else(|| "unknown".into())
}

/// The version of a crate in the lock file.
pub fn locked_version(name: &str) -> String {
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    let after = lock.split(&format!("name = \"{name}\"\nversion = \"")).nth(1).unwrap_or_default();
    after.split('"').next().unwrap_or_default().into()
}
