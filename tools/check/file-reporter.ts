import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import type { FileResult, RunResult } from './file-result.ts'

/** Writes a `RunResult` to the file that `TEST_RESULT` names. An uncaught error counts for the file that was running. */
// oxlint-disable-next-line import/no-default-export -- vitest reads the default export of a reporter
export default class FileReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], uncaughtErrors: readonly SerializedError[]): void {
    const target = process.env['TEST_RESULT']
    if (target === undefined) throw new Error('TEST_RESULT names no file')
    const files = modules.map((module) => resultOf(module))
    const strayErrors: string[] = []
    for (const error of uncaughtErrors) {
      const path: unknown = error['VITEST_TEST_PATH']
      const file = files.find((each) => each.path === path)
      if (file === undefined) {
        strayErrors.push(describe('uncaught', error))
        continue
      }
      file.failed += 1
      file.failures.push(describe('uncaught while the file ran', error))
    }
    const result: RunResult = { files, strayErrors }
    writeFileSync(target, JSON.stringify(result))
  }
}

function resultOf(module: TestModule): FileResult {
  const tests = [...module.children.allTests()]
  const count = (state: string) => tests.filter((test) => test.result().state === state).length
  const failures = tests.flatMap((test) =>
    (test.result().errors ?? []).map((error) => describe(test.fullName, error)),
  )
  const suites = [...module.children.allSuites()]
  const outside = [module, ...suites].flatMap((each) =>
    each.errors().map((error) => describe('outside of the tests', error)),
  )
  const failed = count('failed') + outside.length
  return {
    path: module.moduleId,
    project: module.project.name,
    passed: count('passed'),
    // A file that ended without a verdict, such as one whose worker died, failed.
    failed: failed === 0 && !module.ok() ? 1 : failed,
    skipped: count('skipped'),
    failures: [...failures, ...outside],
  }
}

function describe(
  where: string,
  { name, message, stack, diff }: SerializedError & { diff?: unknown },
) {
  const text = stack?.includes(message) === true ? stack : `${name}: ${message}\n${stack ?? ''}`
  return [where, text, typeof diff === 'string' ? diff : ''].join('\n').trimEnd()
}
