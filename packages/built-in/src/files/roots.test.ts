import { mkdirSync } from 'node:fs'

import { expect, test } from 'vitest'

import { FilesStage } from '../../test/files-stage.ts'
import { checkRoots } from './access/files-options.ts'
import { parsePath } from './access/parse-path.ts'

test.each([
  ['/etc/hostname', 'is absolute'],
  ['C:/file', 'has a drive letter'],
  ['~/file', 'does not mean a home folder'],
  ['work/../file', 'has a name of dots'],
  ['file:///etc/hostname', 'lies below none of the roots'],
])('the error of %s says that it %s, and what to use', async (path, problem) => {
  const stage = await FilesStage.open()
  const error = await stage.error('fs_read', { path })
  expect(error).toContain(JSON.stringify(path))
  expect(error).toContain(problem)
  expect(error).toContain('use ROOT/relative/path')
})

test.each(['a:b', 'nul', 'NUL.txt', 'com1', 'file.', 'file ', 'x.txt::$DATA', 'a*'])(
  'the name "%s" is refused on Windows',
  (name) => {
    const roots = [{ name: 'work', path: '/work' }]
    expect(() => parsePath(roots, `work/${name}`, 10, 'win32')).toThrow('Windows')
    expect(parsePath(roots, `work/${name}`, 10, 'linux').parts).toEqual([name])
  },
)

test.each([
  ['lie within each other', ['a', '/x'], ['b', '/x/y']],
  ['lie within each other', ['a', '/x/y'], ['b', '/x']],
  ['occurs twice', ['a', '/x'], ['a', '/y']],
  ['must be of letters', ['..', '/x'], ['b', '/y']],
  ['must be of letters', ['a/b', '/x'], ['b', '/y']],
  ['must be absolute', ['a', 'x'], ['b', '/y']],
])('roots that %s are refused', (problem, ...pairs) => {
  const roots = pairs.map(([name = '', path = '']) => ({ name, path }))
  expect(() => checkRoots(roots)).toThrow(problem)
})

test('with several roots a path needs the name of one', async () => {
  const stage = await FilesStage.open({ roots: [{ name: 'dev', path: '/dev' }] })
  mkdirSync(stage.path('work', 'sub'))
  expect(await stage.error('fs_list', { path: 'sub' })).toContain('none of the roots (work, dev)')
})
