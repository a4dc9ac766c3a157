// What the documents name must be there.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

const root = join(import.meta.dirname, '..')
const documents = ['*.md', 'docs/**/*.md', 'packages/*/README.md'].flatMap((pattern) =>
  globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }),
)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('every link of a document to a file leads to one', () => {
  const dead = documents.flatMap((path) =>
    Array.from(read(path).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g), ([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !existsSync(join(root, dirname(path), link)))
      .map((link) => `${path}: ${link}`),
  )
  expect(dead).toEqual([])
})

test('every `npm run` of a document is a command of the repository', () => {
  const scripts = new Set(Object.keys(manifest.scripts))
  const unknown = documents.flatMap((path) =>
    Array.from(read(path).matchAll(/\bnpm run (?:-s )?([a-z:-]+)/g), ([, name = '']) => name)
      .filter((name) => !scripts.has(name))
      .map((name) => `${path}: npm run ${name}`),
  )
  expect(unknown).toEqual([])
})
