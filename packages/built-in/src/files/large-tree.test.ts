// A tree of 10,000 files.
import { linkSync, mkdirSync } from 'node:fs'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { FilesStage } from '../../test/files-stage.ts'

const FOLDERS = 100
const FILES = 100

let stage: FilesStage
beforeAll(async () => {
  stage = await FilesStage.openShared({ limits: { maxSearchEntries: 3_000 } })
  const first = stage.path('outside', 'secret.txt')
  for (let folder = 0; folder < FOLDERS; folder++) {
    mkdirSync(stage.path('work', `folder-${folder}`))
    for (let file = 0; file < FILES; file++) {
      // A link takes one system call, a new file three.
      linkSync(first, stage.path('work', `folder-${folder}`, `file-${file}`))
    }
  }
})
afterAll(() => stage[Symbol.asyncDispose]())

/** The paths of all pages, and their number. */
async function readAll(tool: string, args: object, field: string): Promise<[string[], number]> {
  const paths: string[] = []
  for (let cursor: string | undefined, pages = 1; ; pages++) {
    const page = await stage.output(tool, { path: 'work', ...args, cursor })
    paths.push(...page[field].map(({ path }: { path: string }) => path))
    cursor = page['nextCursor']
    if (cursor === undefined) return [paths, pages]
  }
}

test('a list by pages has every entry once, in a stable order', async () => {
  const [paths, pages] = await readAll('fs_list', { depth: 2, limit: 1_000 }, 'entries')
  expect(new Set(paths).size).toBe(FOLDERS * FILES + FOLDERS)
  expect(paths).toHaveLength(FOLDERS * FILES + FOLDERS)
  expect(pages).toBe(11)
  const bySegments = paths.map((path) => path.split('/').join('\0')).toSorted()
  expect(paths.map((path) => path.split('/').join('\0'))).toEqual(bySegments)
})

test('a search by pages finds every file once', async () => {
  const [paths, pages] = await readAll('fs_search', { pattern: 'file-*7', limit: 500 }, 'files')
  expect(new Set(paths).size).toBe(FOLDERS * 10)
  expect(paths).toHaveLength(FOLDERS * 10)
  expect(pages).toBe(4)
})

test('small pages of one large folder have every entry once', async () => {
  const args = { path: 'work/folder-7', limit: 7 }
  const [paths, pages] = await readAll('fs_list', args, 'entries')
  expect(new Set(paths).size).toBe(FILES)
  expect(paths).toHaveLength(FILES)
  expect(pages).toBe(15)
})

test('nothing stays open', () => {
  expect(stage.openDescriptors()).toEqual([])
})
