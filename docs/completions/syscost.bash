_complete_syscost() {
    mapfile -t COMPREPLY < <(SYSCOST_COMPLETE=bash 'syscost' -- "${COMP_LINE:0:COMP_POINT}" "$2")
    if [[ ${COMPREPLY-} == *[=/:] ]]; then
        compopt -o nospace
    fi
}
# Not every bash can keep the order.
complete -o bashdefault -o default -o nosort -F _complete_syscost syscost 2>/dev/null ||
    complete -o bashdefault -o default -F _complete_syscost syscost
