import { describe, expect, test } from 'vitest'

import { findExecutable, type FindOptions } from './find-executable.ts'

/** A file system with these programs only. */
const having =
  (...files: readonly string[]): NonNullable<FindOptions['look']> =>
  (file) =>
    Promise.resolve(files.includes(file) ? 'executable' : 'none')

describe('commands on Windows', () => {
  const look = having(
    'C:\\node\\npx',
    'C:\\node\\npx.CMD',
    'C:\\node\\node.EXE',
    'C:\\node\\old.bat',
    'C:\\other\\npx.EXE',
    'C:\\other\\python3.11.EXE',
    'C:\\srv\\bin\\run.EXE',
    'C:\\srv\\node.EXE',
  )
  const find = (command: string, env: Record<string, string> = {}) =>
    findExecutable(command, {
      cwd: 'C:\\srv',
      env: { Path: '.;C:\\node;C:\\other', PathExt: '.EXE;.CMD', ...env },
      platform: 'win32',
      look,
    })

  test.each([
    ['node', 'C:\\node\\node.EXE'],
    ['node.EXE', 'C:\\node\\node.EXE'],
    ['python3.11', 'C:\\other\\python3.11.EXE'],
    ['bin/run', 'C:\\srv\\bin\\run.EXE'],
    ['.\\bin\\run', 'C:\\srv\\bin\\run.EXE'],
    ['C:\\other\\npx', 'C:\\other\\npx.EXE'],
  ])('the command %s is the file %s on Windows', async (command, file) => {
    expect(await find(command)).toBe(file)
  })

  test('a command on Windows never means a file without an extension', async () => {
    await expect(find('npx', { PathExt: '.COM' })).rejects.toThrow(
      'the command "npx" was not found on PATH: install it, or give its path',
    )
  })

  test('commands on Windows default to the usual extensions without PATHEXT', async () => {
    const env = { Path: 'C:\\node' }
    const options = { cwd: 'C:\\srv', env, platform: 'win32', look } as const
    expect(await findExecutable('node', options)).toBe('C:\\node\\node.EXE')
  })

  test.each([['npx'], ['npx.CMD'], ['old.bat'], ['C:\\node\\npx']])(
    'the batch file %s is refused with a remedy',
    async (command) => {
      await expect(find(command)).rejects.toMatchObject({
        name: 'LaunchError',
        message: expect.stringContaining(
          `write "command": "cmd", "args": ["/c", ${JSON.stringify(command)}, …]`,
        ),
      })
    },
  )
})

test('a command on other platforms has no extension, and PATH is case-sensitive', async () => {
  const look = having('/bin/npx.cmd', '/bin/run', '/srv/bin/run')
  const options = { cwd: '/srv', platform: 'linux', look } as const
  const env = { PATH: 'bin:/bin', PATHEXT: '.cmd' }
  expect(await findExecutable('run', { ...options, env })).toBe('/bin/run')
  expect(await findExecutable('npx.cmd', { ...options, env })).toBe('/bin/npx.cmd')
  await expect(findExecutable('npx', { ...options, env })).rejects.toThrow('not found on PATH')
  await expect(findExecutable('run', { ...options, env: { Path: '/bin' } })).rejects.toThrow()
})
