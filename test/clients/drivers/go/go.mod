module driver

go 1.19

require example.com/cleancast v0.3.0

replace example.com/cleancast => ./cleancast
