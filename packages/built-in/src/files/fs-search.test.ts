import { symlink } from 'node:fs/promises'

import { expect, test } from 'vitest'

import { FilesStage } from '../../test/files-stage.ts'
import { globMatcher } from './content/glob.ts'

async function openTree(limits = {}): Promise<FilesStage> {
  const stage = await FilesStage.open({ limits })
  await stage.write('work/a.ts', 'const one = 1\nconst two = 2\n')
  await stage.write('work/b.md', 'Two')
  await stage.write('work/src/c.ts', 'export const three = 3')
  await stage.write('work/src/d.png', Buffer.from([0, 116, 119, 111]))
  await symlink(stage.path('outside'), stage.path('work', 'link'))
  return stage
}

const pathsOf = ({ files }: Record<string, any>): string[] =>
  files.map(({ path }: { path: string }) => path)

test('files are found by their names', async () => {
  const stage = await openTree()
  const found = await stage.output('fs_search', { path: 'work', pattern: '*.ts' })
  expect(pathsOf(found)).toEqual(['work/a.ts', 'work/src/c.ts'])
  expect(found).toMatchObject({ isComplete: true, notes: [] })
})

test('lines are found by literal text', async () => {
  const stage = await openTree()
  const found = await stage.output('fs_search', { path: 'work', text: 'two' })
  expect(found).toEqual({
    files: [
      {
        path: 'work/a.ts',
        type: 'file',
        matchCount: 1,
        matches: [{ line: 2, text: 'const two = 2' }],
      },
    ],
    isComplete: true,
    notes: [],
  })
  const both = await stage.output('fs_search', { path: 'work', text: 'two', ignoreCase: true })
  expect(pathsOf(both)).toEqual(['work/a.ts', 'work/b.md'])
  expect(pathsOf(await stage.output('fs_search', { path: 'work', text: 'o.e' }))).toEqual([])
})

test('lines are found by a regular expression', async () => {
  const stage = await openTree()
  const args = { path: 'work', text: String.raw`const \w{3} =`, regex: true }
  const { files } = await stage.output('fs_search', args)
  expect(files).toMatchObject([{ path: 'work/a.ts', matchCount: 2 }])
  expect(await stage.error('fs_search', { ...args, text: '(' })).toContain('correct it')
})

test('a regular expression that takes too long is stopped', async () => {
  const stage = await FilesStage.open({ limits: { matchLimitMs: 300 } })
  await stage.write('work/a', `${'a'.repeat(60)}b`)
  const args = { path: 'work', text: '(a+)+$', regex: true }
  expect(await stage.error('fs_search', args)).toContain('make it simpler')
  expect(await stage.output('fs_search', { ...args, text: 'a+' })).toMatchObject({
    isComplete: true,
  })
})

test('a cancelled search stops, and makes place for the next request', async () => {
  const stage = await FilesStage.open({ limits: { matchLimitMs: 60_000, maxConcurrent: 1 } })
  await stage.write('work/a', `${'a'.repeat(60)}b`)
  const args = { path: 'work', text: '(a+)+$', regex: true }
  const cancelled = stage.call('fs_search', args, AbortSignal.timeout(300))
  const next = stage.output('fs_info', { path: 'a' })
  await expect(cancelled).rejects.toThrow()
  expect(await next).toMatchObject({ type: 'file' })
  await expect.poll(() => stage.openDescriptors()).toEqual([])
})

test('requests that find too many others waiting are refused', async () => {
  const stage = await FilesStage.open({ limits: { maxConcurrent: 1, maxWaiting: 2 } })
  const all = Array.from({ length: 10 }, () => stage.call('fs_info', { path: 'work' }))
  const refused = (await Promise.all(all)).filter(({ isError }) => isError === true)
  expect(refused).toHaveLength(7)
  expect(JSON.stringify(refused[0])).toContain('try again later')
})

test('a page with as many files as asked for continues with its cursor', async () => {
  const stage = await openTree()
  const first = await stage.output('fs_search', { path: 'work', pattern: '*.ts', limit: 1 })
  expect(first).toMatchObject({ files: [{ path: 'work/a.ts' }], isComplete: false })
  const { nextCursor: cursor } = first
  const next = await stage.output('fs_search', { path: 'work', pattern: '*.ts', limit: 1, cursor })
  expect(next).toMatchObject({ files: [{ path: 'work/src/c.ts' }], isComplete: false })
  const last = await stage.output('fs_search', {
    path: 'work',
    pattern: '*.ts',
    cursor: next['nextCursor'],
  })
  expect(last).toMatchObject({ files: [], isComplete: true })
})

test.each([
  [{ maxSearchEntries: 2 }, 'visited 2 entries'],
  [{ maxSearchBytes: 10 }, 'read 10 bytes'],
  [{ searchLimitMs: -1 }, 'took -1 ms'],
])('a search at its limit %o says so, and goes on with its cursor', async (limits, note) => {
  const stage = await openTree(limits)
  const found: string[] = []
  const notes: string[] = []
  for (let cursor: string | undefined, pages = 0; pages < 20; pages++) {
    const page = await stage.output('fs_search', { path: 'work', text: 'const', cursor })
    found.push(...pathsOf(page))
    notes.push(...page['notes'])
    cursor = page['nextCursor']
    expect(page['isComplete']).toBe(cursor === undefined)
    if (cursor === undefined) break
  }
  expect(found).toEqual(['work/a.ts', 'work/src/c.ts'])
  expect(notes.join()).toContain(note)
})

test('a file that is searched in part makes the result incomplete', async () => {
  const stage = await openTree({ maxSearchFileBytes: 14 })
  const found = await stage.output('fs_search', { path: 'work', text: 'two' })
  expect(found).toMatchObject({ files: [], isComplete: false })
  expect(found['notes']).toEqual([
    '2 files are longer than 14 bytes, and only their beginning was searched',
  ])
})

test('many lines of one file are counted, and the first are shown in part', async () => {
  const stage = await FilesStage.open()
  await stage.write('work/a', `${'-'.repeat(500)}x${'-'.repeat(500)}\n`.repeat(50))
  const { files } = await stage.output('fs_search', { path: 'work', text: 'x' })
  const [{ matchCount, matches }] = files
  expect(matchCount).toBe(50)
  expect(matches).toHaveLength(20)
  expect(matches[0].text).toHaveLength(200)
  expect(matches[0].text).toContain('x')
})

test.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'src/a.ts', true],
  ['*.ts', 'a.tsx', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/sub/a.ts', false],
  ['src/**/*.ts', 'src/a.ts', true],
  ['src/**/*.ts', 'src/x/y/a.ts', true],
  ['**/x/*', 'a/x/b', true],
  ['./src/*', 'src/a', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['?', '👋', true],
  ['*.{ts,md}', 'a.md', true],
  ['*.{ts,md}', 'a.js', false],
  ['{a,b}/{c,d}', 'b/d', true],
  ['**', 'a/b/c', true],
  ['[a]', 'a', false],
  ['(a+)+$', 'aaaa', false],
])('the pattern %s on %s: %s', (pattern, path, expected) => {
  expect(globMatcher(pattern)(path.split('/'))).toBe(expected)
})

test('a pattern with many stars takes no time on a long path', () => {
  const startedAt = performance.now()
  const isMatch = globMatcher(`${'*a'.repeat(200)}b`)
  for (let index = 0; index < 20; index++) expect(isMatch(['a'.repeat(255)])).toBe(false)
  expect(performance.now() - startedAt).toBeLessThan(1_000)
})

test('a pattern with too many alternatives is refused', async () => {
  const stage = await FilesStage.open()
  const args = { path: 'work', pattern: '{a,b}'.repeat(90) }
  expect(await stage.error('fs_search', args)).toContain('over 32 alternatives')
})
