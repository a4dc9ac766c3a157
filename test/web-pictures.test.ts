// The pictures of the web UI: what tests make, what documents show and which files there are.
import { globSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const MAX_TOTAL_BYTES = 3_700_000

/** What a pattern finds in the files of another one, each once. */
function found(
  files: readonly string[],
  pattern: RegExp,
  name: (match: RegExpExecArray) => string[],
) {
  const texts = globSync(files, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  return new Set(texts.flatMap((text) => Array.from(text.matchAll(pattern)).flatMap(name)))
}

const made = found(['test/web-*.long.test.ts'], /\.take(Both)?\(\s*'([\w-]+)'/g, ([, both, name]) =>
  both === undefined ? [`${name}.png`] : [`${name}.png`, `${name}-dark.png`],
)
const files = globSync('docs/images/*.png', { cwd: root })

test('every picture of a document is made by a test, and every picture that is made is shown', () => {
  const shown = found(['README.md', 'docs/**/*.md'], /images\/([\w-]+\.png)/g, ([, name = '']) => [
    name,
  ])
  expect(shown).toEqual(made)
  expect(made.size).toBeGreaterThan(50)
})

test('the files are those pictures, and small together', () => {
  expect(new Set(files.map((file) => basename(file)))).toEqual(made)
  const bytes = files.map((file) => statSync(join(root, file)).size)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_TOTAL_BYTES)
})
