import { expect, test } from 'vitest'
import { explainFailure, outputBesideReason } from './explain-failure.ts'

const explain = (...output: string[]): string | undefined =>
  explainFailure({ error: 'it ended', output })

test('a failure without output has its error alone', () => {
  expect(explain()).toBe('it ended')
  expect(explain('---', '')).toBe('it ended')
  expect(explainFailure({ output: ['ready'] })).toBeUndefined()
})

test.each([
  [
    'Node.js',
    ['  throw e', 'Error: no disk', "{ code: 'E_FAILED' }", 'Node.js v24'],
    'Error: no disk',
  ],
  [
    'Node.js with a code',
    ['Error [ERR_MODULE_NOT_FOUND]: Cannot find module', "  code: 'ERR'", 'Node.js v24'],
    'Error [ERR_MODULE_NOT_FOUND]: Cannot find module',
  ],
  [
    'Python',
    ['Traceback (most recent call last):', "ModuleNotFoundError: No module named 'x'"],
    "ModuleNotFoundError: No module named 'x'",
  ],
  [
    'npm',
    [
      'npm error code E404',
      'npm error 404 Not Found - GET x',
      'npm error A complete log of this run',
    ],
    'npm error 404 Not Found - GET x',
  ],
  ['a shell', ['sh: 1: server: not found'], 'sh: 1: server: not found'],
  ['a server', ['Starting', 'DATABASE_URL is not set', 'Bye'], 'DATABASE_URL is not set'],
  ['other programs', ['one', 'two'], 'two'],
])('the reason of a failure is found in the output of %s', (_, output, reason) => {
  expect(explain(...output)).toBe(`it ended: ${reason}`)
})

test.each([
  ['@nobody%2fnone-such', '@nobody/none-such'],
  ['none-such', 'none-such'],
])('a package that the registry lacks, as %s, is named with the remedy alone', (sent, name) => {
  const output = [
    'npm error code E404',
    `npm error 404 Not Found - GET https://registry.example/${sent} - Not found`,
    'npm error A complete log of this run can be found in: …/1-debug-0.log',
  ]
  expect(explain(...output)).toBe(
    `it ended: https://registry.example has no package ${name} (404); correct its name, or log in where it is`,
  )
  expect(outputBesideReason({ output })).toEqual([])
})

test('a long reason is cut', () => {
  expect(explain('x'.repeat(300))).toBe(`it ended: ${'x'.repeat(200)}…`)
})
