program <- normalizePath("tools/fuzz"); commandArgs <- function(...) paste0("--file=", program, "/run.R"); source(file.path(program,"framework.R")); load_subjects(program)
fuzz$machine <- list(gpu=FALSE,gpus=0,peers=list()); fuzz$before_call <- function(call) NULL
library(synfire); 
calls <- wrong_calls(); mine <- grepl("wiring|truth_links|simulate_calcium|simulate_coupled|simulate_lorenz", calls$name)
fuzz$wrong_calls <- calls[mine,]
cat(sum(mine),"calls\n")
s <- fuzz$subjects$wrong; texts <- character()
for (case in seq_len(sum(mine)+300)) for (f in run_case(s, 9, case)) texts <- c(texts, f$text)
print(table(substr(texts,1,300)))
