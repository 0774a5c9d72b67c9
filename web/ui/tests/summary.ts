import { stripVTControlCharacters } from 'node:util';
import type { FullResult, Reporter, TestCase, TestResult } from '@playwright/test/reporter';

/**
 * Says last, a few lines each, what failed and why: a log is read from its end,
 * and often there is no more of it. What passed when it was tried again is told
 * too, so that nobody takes it for sound.
 */
export default class Summary implements Reporter {
  private readonly failures = new Map<TestCase, TestResult>();

  onTestEnd(test: TestCase, result: TestResult): void {
    if (result.status !== test.expectedStatus && result.status !== 'skipped') {
      this.failures.set(test, result);
    }
  }

  onEnd({ status }: FullResult): void {
    for (const [test, { error, duration }] of this.failures) {
      const verdict = test.outcome() === 'flaky' ? 'FAILED ONCE' : 'FAILED';
      const reason = stripVTControlCharacters(error?.message ?? status).split('\n').filter((line) => line.trim());
      const { file, line } = error?.location ?? test.location;
      console.log(`${verdict} after ${Math.round(duration / 1000)} s: ${test.title} (${file}:${line})`);
      console.log(reason.slice(0, 12).map((text) => `    ${text.slice(0, 300)}`).join('\n'));
    }
  }

  printsToStdio(): boolean {
    return false;
  }
}
