import { expect, test } from 'vitest'
import { readTotals } from './results.ts'

const output = `
=== Running scenario: ping ===
Running client scenario 'ping' against server: http://127.0.0.1:1/mcp

=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 1 passed, 2 failed
✗ tasks-lifecycle: 1 passed, 8 failed
✓ json-schema-2020-12: 8 passed, 0 failed

Total: 12 passed, 10 failed

Not scored for 2026-07-28: 2 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
  ✓ json-schema-2020-12 (pending)
`

test('scored and unscored scenarios are counted separately', () => {
  expect(readTotals(output)).toEqual({
    scored: { passed: 3, failed: 2 },
    unscored: { passed: 9, failed: 8 },
    scenarios: {
      ping: { passed: 2, failed: 0 },
      'tools-list': { passed: 1, failed: 2 },
      'tasks-lifecycle': { passed: 1, failed: 8 },
      'json-schema-2020-12': { passed: 8, failed: 0 },
    },
  })
})

test('output without a summary is an error with the end of the output', () => {
  expect(() => readTotals('no such option: --url')).toThrow('no such option: --url')
})
