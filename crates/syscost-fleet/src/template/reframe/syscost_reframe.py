"""Measures with syscost under ReFrame, and checks that a machine is as it should be.

    reframe -c syscost_reframe.py -r                       # on the generic local system
    reframe -c syscost_reframe.py -r -S baseline=FILE      # and holds the machine against a baseline

The figures of all rows go to ReFrame's performance log. They need no references with margins set by hand: what
is too slow says `syscost check`, by intervals.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    performance_function, run_before, sanity_function, variable)


class SyscostTest(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'syscost'
    exclusive_access = True
    time_limit = '10m'


@rfm.simple_test
class SyscostRun(SyscostTest):
    """Measures, and reports the median of every row that has a number beyond doubt."""
    profile = variable(str, value='quick')

    @run_before('run')
    def set_arguments(self):
        self.executable_opts = ['run', '--quiet', '--no-save',
                                f'--profile={self.profile}', '--output=run.json']
        self.keep_files = ['run.json']

    def rows(self):
        with open(os.path.join(self.stagedir, 'run.json')) as file:
            return json.load(file)['measurements']

    @sanity_function
    def something_was_measured(self):
        return sn.assert_true(any(row['status'] == 'ok' for row in self.rows()),
                              msg='no row has a number')

    @run_before('performance')
    def report_rows(self):
        for row in self.rows():
            if row['status'] == 'ok' and 'disturbed' not in row['flags']:
                value = row['estimate']['median']
                figure = sn.make_performance_function(sn.defer(value), row['unit'])
                self.perf_variables[row['name']] = figure


@rfm.simple_test
class SyscostCheck(SyscostTest):
    """Fails where the machine is not as it should be; skipped without a baseline."""
    baseline = variable(str, value='')

    @run_before('run')
    def set_arguments(self):
        self.skip_if(not self.baseline, 'no baseline: -S baseline=FILE')
        # The answer is read from what it prints: ReFrame knows no exit code for "cannot tell".
        self.executable_opts = ['check', '--quiet', '--format=json',
                                f'--baseline={os.path.abspath(self.baseline)}', '|| true']

    def answer(self):
        with open(os.path.join(self.stagedir, self.stdout.evaluate())) as file:
            return json.load(file)

    @sanity_function
    def is_as_it_should_be(self):
        answer = self.answer()
        self.skip_if(answer['answer'] == 'cannot_tell', answer['why'])
        return sn.assert_eq(answer['answer'], 'as_it_should_be')

    @performance_function('rows')
    def worse(self):
        return len(self.answer()['worse'])
