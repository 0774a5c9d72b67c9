import { stripVTControlCharacters } from 'node:util';
import type { FullResult, Reporter, TestCase, TestResult } from '@playwright/test/reporter';

/** Prints the failures last, a few lines each: a log is read from its end. */
export default class Summary implements Reporter {
  private readonly failures = new Map<TestCase, TestResult>();

  onTestEnd(test: TestCase, result: TestResult): void {
    if (result.status !== test.expectedStatus && result.status !== 'skipped') {
      this.failures.set(test, result);
    }
  }

  onEnd({ status }: FullResult): void {
    for (const [test, { error, duration }] of this.failures) {
      const reason = stripVTControlCharacters(error?.message ?? status).split('\n').filter((line) => line.trim());
      const { file, line } = error?.location ?? test.location;
      console.log(`FAILED after ${Math.round(duration / 1000)} s: ${test.title} (${file}:${line})`);
      console.log(reason.slice(0, 12).map((text) => `    ${text.slice(0, 300)}`).join('\n'));
    }
  }

  printsToStdio(): boolean {
    return false;
  }
}
