# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_syscost_global_optspecs
    string join \n h/help V/version
end

function __fish_syscost_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_syscost_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_syscost_using_subcommand
    set -l cmd (__fish_syscost_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c syscost -n "__fish_syscost_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_needs_command" -s V -l version -d 'Print version'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "run" -d 'Measure, print a table, keep the run'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "show" -d 'Print the table of a kept run again, or some of its rows'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "numbers" -d 'The latency numbers every programmer should know, of this machine'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "compare" -d 'Compare runs: what became better, what worse, what cannot be told'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "ab" -d 'Compare two programs or environments, measured in turn so that the machine\'s drift cancels'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "report" -d 'Write one or several runs as a page to look at in a browser'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "plot" -d 'Write one chart, for papers and documents'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "history" -d 'The kept runs: list them, follow a metric over time, tag, prune'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "export" -d 'Write runs for other tools: CSV, Markdown, JSON lines, Parquet, OpenMetrics, Bencher, KTAP'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "clean" -d 'Remove what killed runs left behind: scratch folders, queues, semaphores'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "list" -d 'List every benchmark, and why one cannot run here'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "explain" -d 'Explain a benchmark: what it measures and what it does not, how to read it, what proves it'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "doctor" -d 'Check whether this machine is fit to be measured, and what to do where not'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "study" -d 'Published experiments: repeat them here, beside their authors\' figures and syscost\'s method'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "serve" -d 'Serve as the far end of another machine\'s network measurements'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "selftest" -d 'Measure operations of known cost, lies that must be refuted, and neighbours that must be seen'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c syscost -n "__fish_syscost_using_subcommand run" -l profile -d 'How much to take: quick (seconds), standard (three minutes) or careful (many minutes)' -r -f -a "quick\t'The rows people look at first, six to fifty-one rounds, seconds'
standard\t'Six rounds, up to twenty-five, three minutes'
careful\t'Twelve rounds, up to thirty, many minutes'"
complete -c syscost -n "__fish_syscost_using_subcommand run" -l budget -d 'Seconds the run may take, if not the profile\'s own; ends it even before its fewest rounds' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l cpus -d 'CPU to measure on, as `3` or `2,3`: the first measures, the others are probed; if not given, the CPUs whose cores are ours' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l seed -d 'Seed of every shuffle and padding, to repeat a run\'s order' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l format -d 'What to print on standard output' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand run" -s o -l output -d 'Write the run document to this file as well' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand run" -l peer -d 'Far end of the network measurements: a machine that runs `syscost serve`. Without one only loopback is measured' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l token-file -d 'File with the far end\'s token' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand run" -l nfs -d 'NFS server to measure `fs.nfs` against, without a mount. Ports that are not given are asked of its port mapper; a folder is made in the export, and removed again' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l congestion -d 'Congestion control of all TCP connections, e.g. `cubic`; the default is the system\'s. The kernel lists those it allows in /proc/sys/net/ipv4/tcp_allowed_congestion_control' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l dir -d 'Directory in which file systems are measured, on any file system, also a remote one; its rows are called `dir=LABEL`, or by the path. May be repeated: the directories stand side by side in the table. The default is ~/.cache/syscost, or the same below XDG_CACHE_HOME. Only a scratch folder in it is written to, and removed' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l resume -d 'Resume the run of this journal' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand run" -l time-limit -d 'Seconds one row may take in one process before it is ended' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l compare-with -d 'Compare with this run: its document, `latest` or an id; prints the comparison behind the table (with --format json only the comparison: the run\'s document is kept, and written with -o)' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l fail-on -d 'Exit with 3 if a row became worse; with `worse:5%`, if one became worse by 5 % or more even at the nearer end of its interval' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l real-time -d 'Measure the rows of the real-time class as well (`class=fifo`); needs CAP_SYS_NICE or an RLIMIT_RTPRIO of 80. A task of this class takes its CPU from everybody else, for moments'
complete -c syscost -n "__fish_syscost_using_subcommand run" -l allow-drop-caches -d 'Empty the page cache of the whole machine where a file cannot be taken out of it alone (root only). Every other program has to read its files anew'
complete -c syscost -n "__fish_syscost_using_subcommand run" -l no-samples -d 'Leave the raw samples out of the document'
complete -c syscost -n "__fish_syscost_using_subcommand run" -l no-save -d 'Do not keep the run in the data folder'
complete -c syscost -n "__fish_syscost_using_subcommand run" -l strict -d 'Exit with 3 if a row failed or a number was withheld, other than one that is there to be refuted'
complete -c syscost -n "__fish_syscost_using_subcommand run" -s v -l verbose -d 'Show the evidence of every row'
complete -c syscost -n "__fish_syscost_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand show" -s v -l verbose -d 'Tell the evidence, flags and details of every row'
complete -c syscost -n "__fish_syscost_using_subcommand show" -s h -l help -d 'Print help'
complete -c syscost -n "__fish_syscost_using_subcommand numbers" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand numbers" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand compare" -l base -d 'Another run of the base\'s side, pooled with BASE' -r
complete -c syscost -n "__fish_syscost_using_subcommand compare" -l spread -d 'Another run in the base\'s state, not compared: it only tells how far runs differ when nothing changed' -r
complete -c syscost -n "__fish_syscost_using_subcommand compare" -l format -d 'What to print; a table if the ending of --output (.md, .json, .html) does not tell' -r -f -a "table\t'Text for people'
markdown\t'A table for a pull request'
json\t'One JSON document'
html\t'A page'"
complete -c syscost -n "__fish_syscost_using_subcommand compare" -s o -l output -d 'Write it to this file instead of standard output' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand compare" -l fail-on -d 'Exit with 3 if a row became worse, or lost its number (failed, withheld); with `worse:5%`, if one became worse by 5 % or more even at the nearer end of its interval' -r
complete -c syscost -n "__fish_syscost_using_subcommand compare" -s v -l verbose -d 'Show every row, not only those that changed'
complete -c syscost -n "__fish_syscost_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l a -d 'Another syscost binary that measures A' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l b -d 'Another syscost binary that measures B' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l a-env -d 'Environment variable for measuring A; without `=VALUE` it is taken away' -r
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l b-env -d 'Environment variable for measuring B' -r
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l profile -d 'How much to take of each' -r -f -a "quick\t'The rows people look at first, six to fifty-one rounds, seconds'
standard\t'Six rounds, up to twenty-five, three minutes'
careful\t'Twelve rounds, up to thirty, many minutes'"
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l budget -d 'Seconds that A and B may take together, if not twice the profile\'s own' -r
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l cpus -d 'CPU to measure on (the quietest if not given)' -r
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l seed -d 'Seed of every shuffle and padding' -r
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l time-limit -d 'Seconds one row may take in one process before it is ended' -r
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l output-a -d 'Write A\'s run document to this file' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l output-b -d 'Write B\'s run document to this file' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l format -d 'What to print; a table if the ending of --output (.md, .json, .html) does not tell' -r -f -a "table\t'Text for people'
markdown\t'A table for a pull request'
json\t'One JSON document'
html\t'A page'"
complete -c syscost -n "__fish_syscost_using_subcommand ab" -s o -l output -d 'Write it to this file instead of standard output' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand ab" -l fail-on -d 'Exit with 3 if a row became worse, or lost its number (failed, withheld); with `worse:5%`, if one became worse by 5 % or more even at the nearer end of its interval' -r
complete -c syscost -n "__fish_syscost_using_subcommand ab" -s v -l verbose -d 'Show every row, not only those that changed'
complete -c syscost -n "__fish_syscost_using_subcommand ab" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand report" -s o -l output -d 'The page to write' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand report" -l title -d 'The page\'s title' -r
complete -c syscost -n "__fish_syscost_using_subcommand report" -l history -d 'Add every row over time, from the kept runs of the last run\'s machine'
complete -c syscost -n "__fish_syscost_using_subcommand report" -s h -l help -d 'Print help'
complete -c syscost -n "__fish_syscost_using_subcommand plot" -s o -l output -d 'The SVG picture to write, FILE.svg; `-` is standard output. Without it the chart is drawn in the terminal' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand plot" -l kind -d 'What kind of chart; chosen by what the rows are if not given' -r -f -a "bars\t'A bar for each row, with its interval'
ecdf\t'The distribution of each row\'s samples'
violin\t'The density of each row\'s samples'
curve\t'A line over a parameter of the case that is a number'
heatmap\t'A cell for each pair of two parameters'"
complete -c syscost -n "__fish_syscost_using_subcommand plot" -l theme -d 'What background it is for' -r -f -a "light\t'Paper and light pages'
dark\t'Dark pages'"
complete -c syscost -n "__fish_syscost_using_subcommand plot" -l title -d 'The chart\'s title; what its rows have in common if not given' -r
complete -c syscost -n "__fish_syscost_using_subcommand plot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -f -a "list" -d 'List the kept runs, newest first'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -f -a "show" -d 'Follow a metric over time, or several at a glance'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -f -a "changes" -d 'List every change of level, of any metric, newest first'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -f -a "tag" -d 'Give a run a name of your own; a tagged run is not pruned'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -f -a "untag" -d 'Take a tag from a run'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -f -a "prune" -d 'Remove old runs, after asking'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -f -a "path" -d 'Print the folder where runs are kept'
complete -c syscost -n "__fish_syscost_using_subcommand history; and not __fish_seen_subcommand_from list show changes tag untag prune path help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from list" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from show" -l machine -d 'Of this machine, by host name or fingerprint (the newest run\'s if not given)' -r
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from show" -l last -d 'Only the newest N runs' -r
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from show" -l since -d 'Only runs from this day on, e.g. 2026-11-20' -r
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from show" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from changes" -l machine -d 'Of this machine, by host name or fingerprint (the newest run\'s if not given)' -r
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from changes" -l last -d 'Only the newest N runs' -r
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from changes" -l since -d 'Only runs from this day on, e.g. 2026-11-20' -r
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from changes" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from changes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from tag" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from tag" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from untag" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from untag" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from prune" -l keep -d 'Keep the newest N runs' -r
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from prune" -l older-than -d 'Remove only runs older than this, e.g. 90d, 12w, 36h' -r
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from prune" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from prune" -l tagged -d 'Remove tagged runs as well'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from prune" -l yes -d 'Do not ask'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from prune" -l dry-run -d 'Only tell what would go'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from path" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the kept runs, newest first'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "show" -d 'Follow a metric over time, or several at a glance'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "changes" -d 'List every change of level, of any metric, newest first'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "tag" -d 'Give a run a name of your own; a tagged run is not pruned'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "untag" -d 'Take a tag from a run'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "prune" -d 'Remove old runs, after asking'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print the folder where runs are kept'
complete -c syscost -n "__fish_syscost_using_subcommand history; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c syscost -n "__fish_syscost_using_subcommand export" -l format -d 'The form' -r -f -a "csv\t'A line for each row'
markdown\t'Tables for documents'
jsonl\t'A JSON object for each row, one a line'
parquet\t'Tables `runs`, `measurements` and `samples`, a file each'
openmetrics\t'For Prometheus, e.g. the node exporter\'s textfile collector'
bencher\t'Bencher Metric Format'
ktap\t'Kernel Test Anything Protocol'"
complete -c syscost -n "__fish_syscost_using_subcommand export" -s o -l output -d 'Write to this file (a folder for parquet) instead of standard output' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand clean" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand clean" -l dry-run -d 'Only list what would be removed'
complete -c syscost -n "__fish_syscost_using_subcommand clean" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand list" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand explain" -s h -l help -d 'Print help'
complete -c syscost -n "__fish_syscost_using_subcommand doctor" -l watch -d 'Show live how much of the time each core works for nobody else, until Ctrl-C or for this many seconds' -r
complete -c syscost -n "__fish_syscost_using_subcommand doctor" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand study; and not __fish_seen_subcommand_from list show run report help" -s h -l help -d 'Print help'
complete -c syscost -n "__fish_syscost_using_subcommand study; and not __fish_seen_subcommand_from list show run report help" -f -a "list" -d 'List the studies'
complete -c syscost -n "__fish_syscost_using_subcommand study; and not __fish_seen_subcommand_from list show run report help" -f -a "show" -d 'Print what was published, with its doubts'
complete -c syscost -n "__fish_syscost_using_subcommand study; and not __fish_seen_subcommand_from list show run report help" -f -a "run" -d 'Repeat studies on this machine, and judge them'
complete -c syscost -n "__fish_syscost_using_subcommand study; and not __fish_seen_subcommand_from list show run report help" -f -a "report" -d 'Print the studies of a kept run again'
complete -c syscost -n "__fish_syscost_using_subcommand study; and not __fish_seen_subcommand_from list show run report help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from list" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from show" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l profile -d 'How much to take: quick, standard (up to a minute a study) or careful' -r -f -a "quick\t'The rows people look at first, six to fifty-one rounds, seconds'
standard\t'Six rounds, up to twenty-five, three minutes'
careful\t'Twelve rounds, up to thirty, many minutes'"
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l budget -d 'Seconds the run may take' -r
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l seed -d 'Seed of every shuffle and padding, to repeat a run\'s order' -r
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l peer -d 'Far end of the network measurements: a machine that runs `syscost serve`. Without one only loopback is measured' -r
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l token-file -d 'File with the far end\'s token' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l nfs -d 'NFS server to measure `fs.nfs` against, without a mount. Ports that are not given are asked of its port mapper; a folder is made in the export, and removed again' -r
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l dir -d 'Directory of what a study measures on files' -r
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l format -d 'What to print on standard output' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -s o -l output -d 'Write the run document to this file as well' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -l no-save -d 'Do not keep the run in the data folder'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Show the evidence of every quantity'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from report" -l study -d 'Only these studies: ids, or TOML files; without any, those whose rows the run has' -r
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from report" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from report" -s v -l verbose -d 'Show the evidence of every quantity'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the studies'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print what was published, with its doubts'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from help" -f -a "run" -d 'Repeat studies on this machine, and judge them'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from help" -f -a "report" -d 'Print the studies of a kept run again'
complete -c syscost -n "__fish_syscost_using_subcommand study; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c syscost -n "__fish_syscost_using_subcommand serve" -l listen -d 'Address to listen on; may be repeated. The default is the loopback addresses, 127.0.0.1 and ::1' -r
complete -c syscost -n "__fish_syscost_using_subcommand serve" -l token-file -d 'File with the token that clients must know; a missing one is created with a new token, readable by its owner only. Without this option a new token is printed' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand serve" -l data-ports -d 'Ports of the measured connections, e.g. `8000-8009`, for a firewall to allow; the default is any free port' -r
complete -c syscost -n "__fish_syscost_using_subcommand serve" -l sessions -d 'Maximum number of concurrent sessions; at most half of them from one address' -r
complete -c syscost -n "__fish_syscost_using_subcommand serve" -l session-limit -d 'Maximum length of a session in seconds' -r
complete -c syscost -n "__fish_syscost_using_subcommand serve" -l once -d 'Exit after the first session, that is, after one `syscost run`'
complete -c syscost -n "__fish_syscost_using_subcommand serve" -s h -l help -d 'Print help'
complete -c syscost -n "__fish_syscost_using_subcommand selftest" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand selftest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "run" -d 'Measure, print a table, keep the run'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "show" -d 'Print the table of a kept run again, or some of its rows'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "numbers" -d 'The latency numbers every programmer should know, of this machine'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "compare" -d 'Compare runs: what became better, what worse, what cannot be told'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "ab" -d 'Compare two programs or environments, measured in turn so that the machine\'s drift cancels'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "report" -d 'Write one or several runs as a page to look at in a browser'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "plot" -d 'Write one chart, for papers and documents'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "history" -d 'The kept runs: list them, follow a metric over time, tag, prune'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "export" -d 'Write runs for other tools: CSV, Markdown, JSON lines, Parquet, OpenMetrics, Bencher, KTAP'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "clean" -d 'Remove what killed runs left behind: scratch folders, queues, semaphores'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "list" -d 'List every benchmark, and why one cannot run here'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "explain" -d 'Explain a benchmark: what it measures and what it does not, how to read it, what proves it'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "doctor" -d 'Check whether this machine is fit to be measured, and what to do where not'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "study" -d 'Published experiments: repeat them here, beside their authors\' figures and syscost\'s method'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "serve" -d 'Serve as the far end of another machine\'s network measurements'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "selftest" -d 'Measure operations of known cost, lies that must be refuted, and neighbours that must be seen'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run show numbers compare ab report plot history export clean list explain doctor study serve selftest help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "list" -d 'List the kept runs, newest first'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "show" -d 'Follow a metric over time, or several at a glance'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "changes" -d 'List every change of level, of any metric, newest first'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "tag" -d 'Give a run a name of your own; a tagged run is not pruned'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "untag" -d 'Take a tag from a run'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "prune" -d 'Remove old runs, after asking'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from history" -f -a "path" -d 'Print the folder where runs are kept'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from study" -f -a "list" -d 'List the studies'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from study" -f -a "show" -d 'Print what was published, with its doubts'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from study" -f -a "run" -d 'Repeat studies on this machine, and judge them'
complete -c syscost -n "__fish_syscost_using_subcommand help; and __fish_seen_subcommand_from study" -f -a "report" -d 'Print the studies of a kept run again'
