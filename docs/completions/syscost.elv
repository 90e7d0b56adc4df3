
set edit:completion:arg-completer[syscost] = { |@words|
    var index = (count $words)
    set index = (- $index 1)

    put (env _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string $index) SYSCOST_COMPLETE="elvish" syscost -- $@words) | to-lines
}

