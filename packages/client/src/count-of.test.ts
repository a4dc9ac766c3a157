import { readFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countOf } from './count-of.ts'

test.each([
  [countOf(0, 'message'), '0 messages'],
  [countOf(1, 'message'), '1 message'],
  [countOf(1, 'entry', 'entries'), '1 entry'],
  [countOf(2_000, 'entry', 'entries'), '2,000 entries'],
])('a count reads "%s"', (text, expected) => {
  expect(text).toBe(expected)
})

const root = join(import.meta.dirname, '..', '..', '..')
/** Things of which there may be one. Bytes, characters and tokens are left out: one of them is never worth a word. */
const PLURALS =
  /\$\{(?!MAX)[^}]+\} (?:more )?(?:messages|tools|servers|files|entries|calls|chats|lines|steps|keys|users|accounts|writers|faults|turns|rules|sessions|resources|prompts|models|links|records)\b/

test('no text of the page or a command has a plural for a count of one', () => {
  const files = globSync(['packages/web/src/**/*.{ts,tsx}', 'tools/**/*.ts'], { cwd: root })
  const found = files
    .filter((file) => !/node_modules|\.test\.ts$|tools\/check\//.test(file))
    .flatMap((file) => readFileSync(join(root, file), 'utf8').split('\n'))
    .filter((line) => PLURALS.test(line))
  expect(found).toEqual([])
})
