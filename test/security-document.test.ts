// docs/security.md names a test for each promise and requirement: they must be there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const markdown = readFileSync(join(root, 'docs/security.md'), 'utf8')
const named = Array.from(
  markdown.matchAll(/`([\w./-]+\.m?[jt]s)`: ([^|]+?) *\|/g),
  ([, file = '', title = '']) => [file, title] as const,
)

test('docs/security.md names a test for each promise', () => {
  const [, promises = ''] =
    /^## Promises and their tests$([^]*?)^## What you have to do$/m.exec(markdown) ?? []
  const rows = promises.match(/^\| (?!-|Promise |Requirement ).*$/gm) ?? []
  expect(rows.length).toBeGreaterThan(100)
  expect(named).toHaveLength(rows.length)
})

test.each(named)('%s has a test about: %s', (file, title) => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(title)
})
