module tarn/load

go 1.22
