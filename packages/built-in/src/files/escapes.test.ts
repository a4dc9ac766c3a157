// Paths and trees that lead out of a root. No tool may read, create or change anything outside.
import { execFileSync } from 'node:child_process'
import { linkSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { pathToFileURL } from 'node:url'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FilesStage, SECRET } from '../../test/files-stage.ts'
import { FileTree, type Walk } from './access/file-tree.ts'

type Row = readonly [title: string, path: string | ((stage: FilesStage) => string)]

const uri = (stage: FilesStage, rest: string): string =>
  pathToFileURL(stage.path('work')).href + rest

const refused: readonly Row[] = [
  ['the parent of the root', '..'],
  ['the parent after the name of the root', 'work/..'],
  ['a file beside the root', 'work/../outside/secret.txt'],
  ['a file beside the root without the name of the root', '../outside/secret.txt'],
  ['a way out and in again', ['work', '..', 'work', 'inside.txt'].join('/')],
  ['a way up within the root', 'work/sub/../inside.txt'],
  ['a way up at the end', 'work/sub/..'],
  ['a way up after dots', 'work/./../outside/secret.txt'],
  [
    'many ways up',
    (stage) => `work/${'../'.repeat(50)}${stage.path('outside', 'secret.txt').slice(1)}`,
  ],
  ['an absolute path below the root', (stage) => stage.path('work', 'inside.txt')],
  ['an absolute path outside', (stage) => stage.path('outside', 'secret.txt')],
  ['an empty name', 'work//inside.txt'],
  ['an empty path', ''],
  ['a NUL', 'work/inside.txt\0.png'],
  ['a NUL before the way up', 'work/\0/../outside'],
  ['a line break', 'work/inside\n.txt'],
  ['a backslash', String.raw`work\..\outside\secret.txt`],
  ['a backslash within a name', String.raw`work/..\outside`],
  ['a drive letter', String.raw`C:\Windows\win.ini`],
  ['a UNC path', String.raw`\\server\share\file`],
  ['a device namespace', String.raw`\\.\PhysicalDrive0`],
  ['three dots', 'work/.../outside'],
  ['two dots and a space', 'work/.. /outside/secret.txt'],
  ['two dots and a dot after a space', 'work/.. ./outside'],
  ['a space before two dots', 'work/ ../outside'],
  ['a name of a space', 'work/ /inside.txt'],
  ['two dots and a joiner', 'work/..\u{200d}/outside'],
  ['two dots and a byte order mark', 'work/\u{feff}../outside'],
  ['two dots in full width', 'work/．．/outside/secret.txt'],
  ['a leader of two dots', 'work/‥/outside/secret.txt'],
  ['an ellipsis', 'work/…/outside'],
  ['small full stops', 'work/﹒﹒/outside'],
  ['two dots and a slash in full width', 'work/..／outside／secret.txt'],
  ['two dots and a backslash in full width', 'work/..＼outside'],
  ['half of a surrogate pair', 'work/\ud800'],
  ['a path of a megabyte', 'work/'.repeat(200_000)],
  ['a name of 300 bytes', `work/${'n'.repeat(300)}`],
  ['a name of 300 bytes in 100 characters', `work/${'…'.repeat(100)}a`],
  ['a path of 60 folders', `work/${'d/'.repeat(60)}file`],
  ['a URI of a file outside', (stage) => pathToFileURL(stage.path('outside', 'secret.txt')).href],
  ['a URI with a way up', (stage) => uri(stage, '/../outside/secret.txt')],
  ['a URI with an encoded way up', (stage) => uri(stage, '/%2e%2e/outside/secret.txt')],
  ['a URI with half of a way up encoded', (stage) => uri(stage, '/.%2E/outside/secret.txt')],
  ['a URI with an encoded slash', (stage) => uri(stage, '/..%2foutside%2fsecret.txt')],
  ['a URI with an encoded backslash', (stage) => uri(stage, '/..%5coutside%5csecret.txt')],
  ['a URI with an encoded NUL', (stage) => uri(stage, '/inside.txt%00')],
  ['a URI with a broken encoding', (stage) => uri(stage, '/%zz')],
  ['a URI with an overlong encoding', (stage) => uri(stage, '/%c0%ae%c0%ae/outside')],
  ['a URI with an empty name', (stage) => uri(stage, '//inside.txt')],
  ['a URI of a folder that begins like the root', (stage) => uri(stage, 'shop/secret.txt')],
  ['a link to a folder outside', 'work/out'],
  ['a file below a link to a folder outside', 'work/out/secret.txt'],
  ['a missing file below a link', 'work/out/new.txt'],
  ['a link to a file outside', 'work/out.txt'],
  ['a URI below a link', (stage) => uri(stage, '/out/secret.txt')],
  ['a link that is relative', 'work/up/secret.txt'],
  ['a link within a folder', 'work/sub/out/secret.txt'],
  ['a link to a link', 'work/twice/secret.txt'],
  ['a link to a folder inside', 'work/in/deep.txt'],
  ['a link to a file inside', 'work/in.txt'],
  ['a link to the root', 'work/self/inside.txt'],
  ['a link to itself', 'work/loop'],
  ['a link to nothing', 'work/nothing'],
  ['a link to the top', (stage) => `work/top${stage.path('outside', 'secret.txt')}`],
  ['a file as a folder', 'work/inside.txt/secret.txt'],
]

/** Paths of this machine. They are only read: a fault that a test finds must not change the machine. */
const refusedToRead: readonly Row[] = [
  ['an absolute path', '/etc/passwd'],
  ['two slashes', '//etc/passwd'],
  ['the home folder', '~'],
  ['a file of the home folder', '~/.ssh/id_rsa'],
  ['a UNC path with slashes', '//server/share/file'],
  ['a URI of /etc', 'file:///etc/passwd'],
  ['a URI with a host', 'file://server/share/secret.txt'],
  ['a URI without slashes', 'file:etc/passwd'],
  ['a link to /proc/self', 'work/proc/environ'],
  ['a link to a descriptor', 'work/fd/0'],
  ['a link to a device', 'work/zero'],
  ['a drive letter with slashes', 'C:/Windows/win.ini'],
  ['a link to a file of the machine', 'work/top/etc/hostname'],
]

describe.each<Walk>(['descriptors', 'comparison'])('by %s', (walk) => {
  let stage: FilesStage
  let before: Record<string, string>
  beforeAll(async () => {
    stage = await FilesStage.openShared({ walk })
    await prepareLinks(stage)
    before = await stage.snapshot('.')
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  test.each([
    ...refused.map(([title, path]) => [title, path, true] as const),
    ...refusedToRead.map(([title, path]) => [title, path, false] as const),
  ])('%s is refused', async (_title, path, writes) => {
    const given = typeof path === 'string' ? path : path(stage)
    const errors = await askAll(stage, given, writes)
    expect(errors).not.toContain('no error')
    const shown = errors.join('\n').replaceAll(JSON.stringify(given).slice(1, -1), '')
    expect(shown).not.toMatch(/\/proc\/self|mcp-host-files/)
    expect(shown).not.toContain(SECRET)
    expect(await stage.snapshot('.')).toEqual(before)
  })

  test('nothing stays open after refusals', () => {
    expect(stage.openDescriptors()).toEqual([])
  })
})

test('the table has at least 60 escapes', () => {
  expect(refused.length + refusedToRead.length).toBeGreaterThanOrEqual(60)
})

async function prepareLinks(stage: FilesStage): Promise<void> {
  await stage.write('work/inside.txt', 'inside')
  await stage.write('work/sub/deep.txt', 'deep')
  await stage.write('workshop/secret.txt', SECRET)
  const links = {
    out: stage.path('outside'),
    'out.txt': stage.path('outside', 'secret.txt'),
    up: '../outside',
    'sub/out': stage.path('outside'),
    twice: 'out',
    in: 'sub',
    'in.txt': 'inside.txt',
    self: '.',
    loop: 'loop',
    nothing: stage.path('outside', 'missing.txt'),
    top: '/',
    proc: '/proc/self',
    fd: '/proc/self/fd',
    zero: '/dev/zero',
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, stage.path('work', name))
}

/** What every way to a file answers; `no error` for one that works. */
function askAll({ client }: FilesStage, path: string, writes: boolean): Promise<string[]> {
  const ask = async (name: string, args: object = {}): Promise<string> => {
    const result = await client.callTool({ name, arguments: { path, ...args } })
    return result.isError === true ? JSON.stringify(result.content) : 'no error'
  }
  const tell = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'no error',
      (error: unknown) => String(error),
    )
  const isUri = path.startsWith('file:')
  // The SDK makes URIs normal before a resource is read, so ways up within the root are gone.
  const subscribed = isUri ? [tell(client.subscribeResource({ uri: path }))] : []
  return Promise.all([
    ask('fs_read'),
    ask('fs_list'),
    ask('fs_info'),
    ask('fs_search'),
    ...(writes ? ['create', 'overwrite', 'append'] : []).map((mode) =>
      ask('fs_write', { content: 'x', mode, createFolders: true }),
    ),
    ...subscribed,
  ])
}

test.each([
  ['an encoded way up in a path', 'work/%2e%2e/outside/new.txt'],
  ['an encoded slash in a path', 'work/..%2foutside.txt'],
  ['a way up that is encoded twice', 'work/%252e%252e/new.txt'],
  ['a slash in full width', 'work/a／b.txt'],
  ['the home folder within a root', 'work/~/file'],
  ['a variable', 'work/$HOME/file'],
  ['the root in another case', 'WORK/file'],
  ['a name that begins with dots', 'work/..hidden'],
  ['a name with a trailing dot', 'work/file.'],
])('%s is a name below the root', async (_title, path) => {
  const stage = await FilesStage.open()
  const outside = await stage.snapshot('outside')
  await stage.output('fs_write', { path, content: 'x', createFolders: true })
  expect(await stage.output('fs_read', { path })).toMatchObject({ content: 'x' })
  expect(await stage.snapshot('outside')).toEqual(outside)
  expect(Object.keys(await stage.snapshot('.'))).toContain(
    stage.path('work', ...path.split('/').slice(path.startsWith('work/') ? 1 : 0)),
  )
})

test('resources outside the root cannot be read', async () => {
  const stage = await FilesStage.open()
  await prepareLinks(stage)
  const ways = [
    '/../outside/secret.txt',
    '/%2e%2e/outside/secret.txt',
    '/out/secret.txt',
    '/out.txt',
  ]
  for (const way of [...ways, '/..%2foutside%2fsecret.txt', '/sub/deep.txt%00']) {
    await expect(stage.client.readResource({ uri: uri(stage, way) })).rejects.toThrow('file:')
  }
  const { resources } = await stage.client.listResources()
  expect(resources.map(({ name }) => name)).toEqual(['inside.txt'])
})

test('pipes, sockets and devices are described, and neither opened nor written', async () => {
  const stage = await FilesStage.open({ roots: [{ name: 'dev', path: '/dev', readOnly: true }] })
  execFileSync('/usr/bin/env', ['mkfifo', stage.path('work', 'pipe')])
  const socket = createServer().listen(stage.path('work', 'socket'))
  for (const path of ['work/pipe', 'work/socket', 'dev/null', 'dev/zero', 'dev/tty']) {
    // A fault that this test finds must not replace a device of the machine.
    const modes = path.startsWith('work/') ? ['overwrite', 'append'] : []
    expect(await stage.output('fs_info', { path })).toMatchObject({ type: 'other' })
    expect(await stage.error('fs_read', { path })).toContain('is no regular file')
    for (const mode of modes) {
      const error = await stage.error('fs_write', { path, content: 'x', mode })
      expect(error).toContain('is no regular file')
    }
  }
  const { entries } = await stage.output('fs_list', { path: 'work' })
  expect(entries).toMatchObject([{ type: 'other' }, { type: 'other' }])
  socket.close()
})

test.each(['top/proc/self/environ', 'top/proc/1/environ', 'top/sys/kernel/notes', 'proc'])(
  'the kernel file system of %s is not served',
  async (path) => {
    const root = path.startsWith('top')
      ? { name: 'top', path: '/' }
      : { name: 'proc', path: '/proc' }
    const tree = new FileTree({ roots: [root] })
    const opened = tree.use(path, AbortSignal.timeout(10_000), async (parsed, stack) => {
      await tree.open(parsed, stack)
    })
    await expect(opened).rejects.toThrow('file system of the kernel')
  },
)

test.each(['create', 'overwrite', 'append'])(
  'the mode %s on a link says that links are not followed',
  async (mode) => {
    const stage = await FilesStage.open()
    symlinkSync(stage.path('work', 'target'), stage.path('work', 'link'))
    const error = await stage.error('fs_write', { path: 'work/link', content: 'x', mode })
    expect(error).toContain('is a symbolic link, and links are not followed')
    expect(await stage.snapshot('work')).toEqual({ [stage.path('work', 'link')]: '' })
  },
)

test('a hard link is not appended to, and is separated when it is overwritten', async () => {
  const stage = await FilesStage.open()
  linkSync(stage.path('outside', 'secret.txt'), stage.path('work', 'hard.txt'))
  const path = 'work/hard.txt'
  expect(await stage.error('fs_write', { path, content: 'x', mode: 'append' })).toContain(
    'several names',
  )
  await stage.output('fs_write', { path, content: 'x', mode: 'overwrite' })
  expect(await stage.snapshot('outside')).toEqual({ [stage.path('outside', 'secret.txt')]: SECRET })
})
