import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { LONG_TESTS } from './long-tests.ts'
import { root } from './run-process.ts'

const folders = ['test', 'fuzz', 'chaos', 'tools', '{packages,services}/*/{src,test}']
const files = globSync(
  folders.map((folder) => `${folder}/**/*.long.test.ts`),
  { cwd: root },
)
const paths = LONG_TESTS.flatMap(({ run }) => ('path' in run ? [run.path] : []))

test('every long test file is run by exactly one name of `npm run test:long`', () => {
  expect(files.length).toBeGreaterThan(10)
  const countOf = (file: string) => paths.filter((path) => file.startsWith(path)).length
  expect(files.filter((file) => countOf(file) !== 1)).toEqual([])
})

test('every path of a long test has files', () => {
  const isEmpty = (path: string) => !files.some((file) => file.startsWith(path))
  expect(paths.filter(isEmpty)).toEqual([])
})
