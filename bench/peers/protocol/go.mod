module protocol

go 1.25.0
