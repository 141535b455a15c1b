module driver

go 1.19

require example.com/cleancast v0.2.0

replace example.com/cleancast => ./cleancast
