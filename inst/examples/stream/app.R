# A page that shows a stream live, while it is fed:
#
#   shiny::runApp(system.file("examples/stream", package = "synfire"))
#
# shows a simulated recording, which the page itself writes to a file in real time. To
# follow a recording of yours, set these before:
#
#   options(synfire.file = "recording.csv",      # a table that grows
#           synfire.intervals = c(0.005, 0.015), # delays, in seconds
#           synfire.min_count = 300, synfire.window = 60, synfire.every = 0.5,
#           synfire.alarms = 10)               # false ones an hour that you accept
library(shiny)
library(synfire)

set <- function(name, default) getOption(paste0("synfire.", name), default)
file <- set("file", NULL)
simulated <- is.null(file)

# A minute of chains of spikes, which is written again and again, each time a minute on.
if (simulated) {
  set.seed(1)
  minute <- as.data.frame(simulate_sym26(duration = 60))
  file <- tempfile("recording-", fileext = ".csv")
  cat("time,unit\n", file = file)
}
write_until <- function(now, before) {
  for (k in seq(before %/% 60, now %/% 60)) {
    time <- minute$time + 60 * k
    due <- time > before & time <= now
    lines <- sprintf("%.6f,%s\n", time[due], minute$unit[due])
    cat(lines, file = file, sep = "", append = TRUE)
  }
}

page <- fluidPage(
  titlePanel("Episodes as they happen"),
  p(textOutput("state", inline = TRUE)),
  fluidRow(
    column(8, plotOutput("counts", height = "420px")),
    column(4, h4("Strongest now"), tableOutput("strongest"))
  ),
  h4("Alarms"), textOutput("watched"), tableOutput("alarms"),
  h4("Since the update before"), tableOutput("changes"),
  actionButton("stop", "Stop")
)

server <- function(input, output, session) {
  stream <- episode_stream(set("intervals", c(0.005, 0.010)), set("min_count", 40),
                           set("window", 5), alarms = set("alarms", 100))
  feed <- feed_file(stream, file, every = set("every", 0.5))
  began <- Sys.time()
  written <- 0
  shown <- reactiveVal(stream)
  running <- reactiveVal(TRUE)

  # Each look takes what has come, and does not wait; what R is asked meanwhile it answers
  # in between.
  observe({
    req(running())
    invalidateLater(200)
    if (simulated) {
      now <- as.numeric(difftime(Sys.time(), began, units = "secs"))
      write_until(now, written)
      written <<- now
    }
    update(feed)
    if (!identical(feed$stream$now, isolate(shown())$now)) shown(feed$stream)
  })
  observeEvent(input$stop, {
    running(FALSE)
    shown(close(feed))
  })
  session$onSessionEnded(function() close(feed))

  output$state <- renderText({
    paste0(format(shown()), if (!running()) ", stopped",
           sprintf("; %.1f s wait to be counted", feed$behind))
  })
  output$counts <- renderPlot({
    req(shown()$updates > 1, any(lengths(shown()$episodes$units) > 1))
    plot(shown())
  })
  output$strongest <- renderTable({
    table <- as.data.frame(shown())
    table <- table[table$size > 1, ]
    head(table[order(-table$size * table$count), c("episode", "count")], 10)
  })
  output$watched <- renderText({
    if (is.null(shown()$alarming)) return("None were asked for.")
    if (shown()$alarming$looks == 0) {
      if (is.null(shown()$alarming$open)) return("The first look comes when the window is full.")
      return("Surrogates of the first look are being mined.")
    }
    if (nrow(shown()$alarms) == 0) "Nothing that chance does not explain."
  })
  output$alarms <- renderTable({
    head(shown()$alarms[c("episode", "count", "limit", "p", "since")], 8)
  })
  output$changes <- renderTable({
    head(shown()$changes[c("episode", "status", "before", "now")], 8)
  })
}

shinyApp(page, server)
