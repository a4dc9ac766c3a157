import { describe, expect, test } from 'vitest'

import { maskSecrets } from '../errors/mask-secrets.ts'
import { ProcessOutput } from './process-output.ts'

const logged: string[] = []
const log = (fields: object, message: string): void =>
  void logged.push(`${JSON.stringify(fields)} ${message}`)
const logger = { debug: log, info: log, warn: log, error: log }

function open(): ProcessOutput {
  return new ProcessOutput({
    logger,
    mask: maskSecrets({ API_KEY: 'sk-1234' }),
    quota: { take: () => true, leaveOut: () => undefined },
  })
}

describe('the last output of a process', () => {
  test('the last output of a process has lines of stderr and invalid lines of stdout in order', () => {
    const output = open()
    output.stderr('one')
    output.stdout('two')
    expect(output.lastLines).toEqual(['one', 'two'])
  })

  test('the last output of a process has at most 20 lines and 2,000 characters', () => {
    const output = open()
    for (let line = 0; line < 50; line++) output.stderr(`line ${line}`)
    expect(output.lastLines).toHaveLength(20)
    expect(output.lastLines.at(-1)).toBe('line 49')
    for (let line = 0; line < 50; line++) output.stderr('x'.repeat(10_000))
    expect(output.lastLines.join('').length).toBeLessThanOrEqual(2000)
    expect(output.lastLines.length).toBeGreaterThan(1)
  })

  test('the last output of a process and its log have no secrets', () => {
    const output = open()
    output.stderr('bad key sk-1234')
    output.stdout('bad key sk-1234')
    expect(output.lastLines).toEqual(['bad key [API_KEY]', 'bad key [API_KEY]'])
    expect(logged.join('\n')).not.toContain('sk-1234')
  })

  test.each([
    ["Cannot find module '/home/me/my-host/weather.js'", "Cannot find module '…/weather.js'"],
    ['File "/usr/lib/python3/x.py", line 3', 'File "…/x.py", line 3'],
    ['at file:///home/me/x.js:3:1', 'at …/x.js:3:1'],
    ['C:\\Users\\me\\x.js is bad', '…\\x.js is bad'],
    ['see https://example.com/a/b.html', 'see https://example.com/a/b.html'],
    ['node:internal/modules/cjs/loader:1423', 'node:internal/modules/cjs/loader:1423'],
  ])('the last output of a process has no folders: %s', (line, shown) => {
    const output = open()
    output.stderr(line)
    expect(output.lastLines).toEqual([shown])
  })

  test('the last output of a process has neither colours nor stack frames', () => {
    const output = open()
    for (const line of ['\u001B[31mError: no\u001B[0m', '    at main (/a/b.js:1:1)', '    ^', ''])
      output.stderr(line)
    expect(output.lastLines).toEqual(['Error: no'])
  })
})
