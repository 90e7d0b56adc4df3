complete --keep-order --exclusive --command syscost --arguments "(SYSCOST_COMPLETE=fish syscost -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
