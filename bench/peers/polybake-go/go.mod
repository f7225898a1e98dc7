module peer

go 1.25.0

require (
	all-minilm-l6-v2 v0.0.0
	protocol v0.0.0
)

require (
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/yalue/onnxruntime_go v1.27.0 // indirect
	golang.org/x/sys v0.44.0 // indirect
)

replace (
	all-minilm-l6-v2 => ../../../clients/go
	protocol => ../protocol
)
