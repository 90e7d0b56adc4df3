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
complete -c syscost -n "__fish_syscost_needs_command" -f -a "list" -d 'List every benchmark, and why one cannot run here'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "explain" -d 'Explain a benchmark: what it measures, what not, how to read it, what proves it'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "doctor" -d 'Check whether this machine is fit to be measured, and what to do where not'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "selftest" -d 'Measure operations of known cost, and lies that must be refuted'
complete -c syscost -n "__fish_syscost_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c syscost -n "__fish_syscost_using_subcommand run" -l profile -d 'How much to take: quick (seconds), standard (a minute) or careful (many minutes)' -r -f -a "quick\t'Six rounds, seconds'
standard\t'Nine rounds, up to seventeen, a minute'
careful\t'Twelve rounds, up to thirty, many minutes'"
complete -c syscost -n "__fish_syscost_using_subcommand run" -l budget -d 'Seconds the run may take, if not the profile\'s own; ends it even before its fewest rounds' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l cpus -d 'CPU to measure on, as `3` or `2,3`; the first is used, the others are probed (the quietest if not given)' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l seed -d 'Seed of every shuffle and padding, to repeat a run\'s order' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l format -d 'What to print on standard output' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand run" -s o -l output -d 'Write the run document to this file as well' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand run" -l resume -d 'Take up the run of this journal' -r -F
complete -c syscost -n "__fish_syscost_using_subcommand run" -l time-limit -d 'Seconds one row may take in one process before it is ended' -r
complete -c syscost -n "__fish_syscost_using_subcommand run" -l no-samples -d 'Leave the raw samples out of the document'
complete -c syscost -n "__fish_syscost_using_subcommand run" -l no-save -d 'Do not keep the run in the data folder'
complete -c syscost -n "__fish_syscost_using_subcommand run" -l strict -d 'Exit with 4 if a number was withheld'
complete -c syscost -n "__fish_syscost_using_subcommand run" -s v -l verbose -d 'Show the evidence of every row'
complete -c syscost -n "__fish_syscost_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand list" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand explain" -s h -l help -d 'Print help'
complete -c syscost -n "__fish_syscost_using_subcommand doctor" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand selftest" -l format -d 'What to print' -r -f -a "table\t'Text for people'
json\t'One JSON document'"
complete -c syscost -n "__fish_syscost_using_subcommand selftest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run list explain doctor selftest help" -f -a "run" -d 'Measure, print a table, keep the run'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run list explain doctor selftest help" -f -a "list" -d 'List every benchmark, and why one cannot run here'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run list explain doctor selftest help" -f -a "explain" -d 'Explain a benchmark: what it measures, what not, how to read it, what proves it'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run list explain doctor selftest help" -f -a "doctor" -d 'Check whether this machine is fit to be measured, and what to do where not'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run list explain doctor selftest help" -f -a "selftest" -d 'Measure operations of known cost, and lies that must be refuted'
complete -c syscost -n "__fish_syscost_using_subcommand help; and not __fish_seen_subcommand_from run list explain doctor selftest help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
