# Frequent itemsets of general transactions.

#' Find frequent itemsets
#'
#' An itemset is a set of items: of baskets and what is in them, documents and their words,
#' genes and samples. Its *count* is the number of transactions that hold all of it, and its
#' *support* the share of them, as in the package arules. `frequent_itemsets()` finds the sets
#' that are held by at least `min_count` transactions, with the miner of [mine_patterns()].
#'
#' # What is counted
#' An item that a transaction repeats counts once. Empty transactions hold nothing, but
#' are among those that a support is a share of. The empty set is not among the results.
#' * `target = "frequent"`: all frequent sets. There may be very many: one set of 30 items
#'   has a billion subsets.
#' * `target = "closed"`: those without a larger set of the same count. From them the
#'   others and their counts follow.
#' * `target = "maximal"`: those without a larger frequent set.
#'
#' Whether a set is closed or maximal does not depend on `min_size` and `max_size`, which
#' choose among those sets.
#'
#' @inheritSection mine_patterns Memory
#' @param transactions A list with a vector of items for each transaction (character
#'   vectors, factors, or whole numbers up to 2^31 - 1); a logical or numeric matrix, or a
#'   sparse matrix of the package Matrix, with a row for each transaction and a column for
#'   each item; a data frame, each row with the items `column=value`, or `column` where
#'   that is TRUE; or `transactions` of the package arules.
#' @param min_count Least number of transactions that hold a set, a whole number from 1.
#' @param min_support The same as a share of all transactions, above 0 and at most 1, as in
#'   arules. Give either this or `min_count`.
#' @param target Which of the frequent sets.
#' @param min_size,max_size Least and largest number of items of a set; `max_size` may be
#'   `Inf`.
#' @param engine Who searches: `"closure"` goes from closed set to closed set,
#'   `"fpgrowth"` is FP-growth. Both give the same sets in the same order.
#' @param device `"cpu"`, `"gpu"` (with the engine `"closure"`), or `"auto"` for the one that
#'   should be sooner done, which is said in a message. The result is the same. A GPU leaves
#'   sets of more than 256 items, and those of an item that need more room than it has, to
#'   the CPU.
#' @param gpus Numbers of the GPUs to use: rows of `synfire_sitrep()$devices`; `NULL` for
#'   the first one.
#' @param threads Number of threads; `NULL` for all that this process may use.
#' @param max_memory Bytes the search may hold, what it finds included; a GPU as well.
#'
#' @return An object of class `itemsets`, sorted by size: a list of `items` (integer
#'   vector, all sets one after the other, an item being its place among the labels less
#'   1, increasing within a set), `runs` (list of `size` and `n`: `n[k]` sets in a row have
#'   `size[k]` items) and `count` (integer, the number of transactions that hold
#'   each set). Attributes: `labels` (of the items), `transactions` (how many there
#'   are), `target`, `parameters` (a list: `min_count`,
#'   `min_size`, `max_size`), `engine`, `device`, `threads`, `elapsed` (s; `mining_elapsed` is the
#'   part of it spent in the search), `peak_memory` (bytes held by the search) and `call`.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; `min_count = 0` is
#' one of them. A search beyond `max_memory` gives `synfire_error_budget`, one that the
#' machine has no memory for `synfire_error_memory`, and transactions of 2^31 - 1 items or
#' more in total `synfire_error_too_large`. `device = "gpu"` gives `synfire_error_device`
#' where there is no GPU, or it fails.
#'
#' @references
#' Uno T, Kiyomi M, Arimura H (2004). LCM ver. 2: efficient mining algorithms for
#' frequent/closed/maximal itemsets. *Proceedings of the IEEE ICDM Workshop on Frequent
#' Itemset Mining Implementations*.
#'
#' Han J, Pei J, Yin Y (2000). Mining frequent patterns without candidate generation.
#' *ACM SIGMOD Record*, 29, 1-12. \doi{10.1145/335191.335372}
#'
#' @seealso [mine_patterns()] for spike trains.
#' @examples
#' baskets <- list(
#'   c("bread", "butter", "jam"), c("bread", "butter"), c("bread", "jam"),
#'   c("bread", "butter", "tea"), "tea"
#' )
#' frequent_itemsets(baskets, min_count = 2, threads = 2)
#' frequent_itemsets(baskets, min_support = 0.4, target = "maximal", threads = 2)
#' @export
frequent_itemsets <- function(transactions, min_count = NULL, min_support = NULL,
                              target = c("closed", "maximal", "frequent"),
                              min_size = 1, max_size = Inf,
                              engine = c("closure", "fpgrowth"),
                              device = c("cpu", "gpu", "auto"), gpus = NULL,
                              threads = NULL, max_memory = 4e9) {
  begun <- check_given(transactions = transactions_must)
  target <- check_choice(target)
  engine <- check_choice(engine)
  device <- check_choice(device)
  started <- proc.time()[["elapsed"]]
  check_miner_place(device, gpus, engine)
  max_memory <- check_memory(max_memory)
  check_transactions_fit(transactions, max_memory)
  parts <- as_transactions_parts(transactions, "transactions")
  n <- length(parts$first) - 1
  min_count <- check_min_count(min_count, min_support, n)
  min_size <- check_count(min_size)
  max_size <- check_most(max_size, "max_size", min_size, "min_size")
  threads <- check_threads(threads)

  options <- miner_options(1, min_size, max_size, 1, min_count, Inf, engine, target, threads,
                           max_memory)
  mine <- function(options) {
    mined <- .Call(r_mine_itemsets, parts$first, parts$item, parts$items, options)
    advice <- paste0(raise_to(mined, min_count), ", or lower `max_size`",
                     if (target == "frequent") ", or use `target = \"closed\"`", ".")
    finish_status(mined, "mining these itemsets", advice, limit_of = "items in total")
  }
  place <- miner_place(device, gpus, engine, threads, \() mine(to_estimate(options)))
  options["gpus"] <- list(place)
  mined <- mine(options)
  new_itemsets(mined$items, mined[c("size", "n")], mined$count,
               list(labels = parts$labels, transactions = n, target = target,
                    parameters = list(min_count = min_count, min_size = min_size,
                                      max_size = max_size), engine = engine,
                    device = if (is.null(place)) "cpu" else "gpu", threads = threads,
                    elapsed = proc.time()[["elapsed"]] - started,
                    mining_elapsed = mined$mining_elapsed, peak_memory = mined$peak_memory,
                    call = begun$call))
}

#' Error where transactions cannot even be listed in so many bytes
#' @noRd
check_transactions_fit <- function(x, max_memory) {
  entries <- if (is.list(x) && !is.object(x)) sum(as.double(lengths(x))) else
    prod(as.double(dim(x)))
  # Copies of the items as they come, sorted, and as numbers.
  needed <- if (isS4(x)) 0 else 20 * entries
  check_budget(needed, max_memory, "reading these transactions", "Give fewer at a time.")
}
