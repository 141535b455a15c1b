module example.com/cleancast

go 1.19
