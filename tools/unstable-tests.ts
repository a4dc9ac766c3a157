import type { Reporter, TestCase } from 'vitest/node'

/** Names the tests that failed first and passed when they were repeated: they count as passed, and have to be mended. */
// oxlint-disable-next-line import/no-default-export -- vitest reads the default export of a reporter
export default class UnstableTests implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true)
      this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`)
  }

  onTestRunEnd(): void {
    for (const name of this.#names) console.log(`passed at the second attempt only: ${name}`)
  }
}
