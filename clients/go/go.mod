module all-minilm-l6-v2

go 1.25.0

require (
	github.com/tetratelabs/wazero v1.12.0
	github.com/yalue/onnxruntime_go v1.27.0
)

require golang.org/x/sys v0.44.0 // indirect
