import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chmod, readFile, rename, stat, symlink } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'

import { describe, expect, test } from 'vitest'

import { textOf } from '@mcp-host/mcp-testkit'
import { FilesStage } from '../../test/files-stage.ts'

test('the tools have schemas, and annotations that are true', async () => {
  const { client } = await FilesStage.open()
  const { tools } = await client.listTools()
  const hints = tools.map(({ name, annotations }) => [
    name,
    annotations?.readOnlyHint,
    annotations?.openWorldHint,
  ])
  expect(hints).toEqual([
    ['fs_list', true, false],
    ['fs_info', true, false],
    ['fs_read', true, false],
    ['fs_search', true, false],
    ['fs_write', false, false],
  ])
  expect(tools.find(({ name }) => name === 'fs_write')?.annotations).toMatchObject({
    destructiveHint: true,
    idempotentHint: false,
  })
  for (const { inputSchema, outputSchema } of tools) {
    expect(outputSchema).toBeDefined()
    for (const field of Object.values(inputSchema.properties ?? {})) {
      expect(field).toHaveProperty('description')
    }
  }
})

describe('fs_read', () => {
  test('a text is read by pages that split no character', async () => {
    const stage = await FilesStage.open()
    const text = 'aé€👋'.repeat(50)
    await stage.write('work/a.md', text)
    let read = ''
    let pages = 0
    for (let offset: number | undefined = 0; offset !== undefined; pages++) {
      const page = await stage.output('fs_read', { path: 'work/a.md', offset, length: 7 })
      expect(page).toMatchObject({
        offset,
        size: Buffer.byteLength(text),
        mimeType: 'text/markdown',
      })
      read += page['content']
      offset = page['nextOffset']
    }
    expect(read).toBe(text)
    expect(pages).toBeGreaterThan(70)
  })

  test('a page without length has the limit', async () => {
    const stage = await FilesStage.open({ limits: { maxReadBytes: 10 } })
    await stage.write('work/a', 'x'.repeat(25))
    const result = await stage.call('fs_read', { path: 'a' })
    expect(result.structuredContent).toMatchObject({ bytes: 10, size: 25, nextOffset: 10 })
    expect(textOf(result)).toBe('x'.repeat(10))
    expect(JSON.stringify(result.content)).toContain('The next page has the offset 10')
    expect(await stage.error('fs_read', { path: 'a', length: 11 })).toContain('length')
    expect(await stage.output('fs_read', { path: 'a', offset: 99 })).toMatchObject({ content: '' })
  })

  test('an offset within a character is refused with its remedy', async () => {
    const stage = await FilesStage.open()
    await stage.write('work/a', '👋👋')
    expect(await stage.error('fs_read', { path: 'a', offset: 2 })).toContain('use the nextOffset')
  })

  test.each([
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x62])],
    ['a NUL', Buffer.from([0x61, 0, 0x62])],
    ['half of a character at the end', Buffer.from('é').subarray(0, 1)],
  ])('a file with %s is read in base64', async (_title, bytes) => {
    const stage = await FilesStage.open()
    await stage.write('work/a.png', bytes)
    expect(await stage.error('fs_read', { path: 'a.png' })).toContain('use the encoding "base64"')
    const read = await stage.output('fs_read', { path: 'a.png', encoding: 'base64' })
    expect(read).toMatchObject({ content: bytes.toString('base64'), mimeType: 'image/png' })
  })

  test('the ending of a name in any case gives the MIME type', async () => {
    const stage = await FilesStage.open()
    await stage.write('work/A.PNG')
    await stage.write('work/png')
    expect(await stage.output('fs_info', { path: 'A.PNG' })).toMatchObject({
      mimeType: 'image/png',
    })
    const other = { type: 'file', size: 0, mimeType: 'application/octet-stream' }
    expect(await stage.output('fs_info', { path: 'png' })).toMatchObject(other)
  })

  test('a byte order mark is kept', async () => {
    const stage = await FilesStage.open()
    await stage.write('work/a', '\u{feff}a')
    expect(await stage.output('fs_read', { path: 'a' })).toMatchObject({ content: '\u{feff}a' })
  })

  test('a URI names a file, also with characters that URIs encode', async () => {
    const stage = await FilesStage.open()
    await stage.write('work/a b/ü%#?.txt', 'x')
    const { href } = pathToFileURL(stage.path('work', 'a b', 'ü%#?.txt'))
    expect(await stage.output('fs_read', { path: href })).toMatchObject({
      path: 'work/a b/ü%#?.txt',
      content: 'x',
    })
    expect(await stage.output('fs_info', { path: href })).toMatchObject({ uri: href })
  })
})

describe('fs_write', () => {
  test('a file is created, overwritten with its mode, and appended to', async () => {
    const stage = await FilesStage.open()
    const path = 'work/a.sh'
    expect(await stage.output('fs_write', { path, content: 'one' })).toMatchObject({ isNew: true })
    expect(await stage.error('fs_write', { path, content: 'two' })).toContain('exists already')
    await chmod(stage.path('work', 'a.sh'), 0o751)
    const { ino } = await stat(stage.path('work', 'a.sh'))
    await stage.output('fs_write', { path, content: 'two', mode: 'overwrite' })
    const after = await stat(stage.path('work', 'a.sh'))
    expect(after.mode & 0o777).toBe(0o751)
    expect(after.ino).not.toBe(ino)
    await stage.output('fs_write', { path, content: '+', mode: 'append' })
    await stage.output('fs_write', { path: 'work/b', content: '+', mode: 'append' })
    expect(await stage.snapshot('work')).toEqual({
      [stage.path('work', 'a.sh')]: 'two+',
      [stage.path('work', 'b')]: '+',
    })
  })

  test('a reader of a file that is overwritten sees all of the old or all of the new content', async () => {
    const stage = await FilesStage.open()
    const contents = ['a'.repeat(300_000), 'b'.repeat(200_000)]
    await stage.write('work/a', contents[0] ?? '')
    let isDone = false
    const writing = (async () => {
      for (let index = 1; index < 20; index++) {
        await stage.output('fs_write', {
          path: 'a',
          content: contents[index % 2],
          mode: 'overwrite',
        })
      }
      isDone = true
    })()
    while (!isDone) expect(contents).toContain(await readFile(stage.path('work', 'a'), 'utf8'))
    await writing
  })

  test('bytes are written in base64, and anything else is refused', async () => {
    const stage = await FilesStage.open()
    const content = Buffer.from([0, 255, 10]).toString('base64')
    await stage.output('fs_write', { path: 'a', content, encoding: 'base64' })
    expect(await readFile(stage.path('work', 'a'))).toEqual(Buffer.from([0, 255, 10]))
    const wrong = { path: 'b', content: 'no base64!', encoding: 'base64' }
    expect(await stage.error('fs_write', wrong)).toContain('no base64')
  })

  test('folders are made only when the client asks for them', async () => {
    const stage = await FilesStage.open()
    const args = { path: 'work/a/b/c.txt', content: 'x' }
    expect(await stage.error('fs_write', args)).toContain('set createFolders')
    expect(await stage.snapshot('work')).toEqual({})
    await stage.output('fs_write', { ...args, createFolders: true })
    expect(await readFile(stage.path('work', 'a', 'b', 'c.txt'), 'utf8')).toBe('x')
  })

  test('a root that is read-only refuses every change', async () => {
    const other = { name: 'other', path: join(tmpdir(), 'mcp-host-no-folder') }
    const stage = await FilesStage.open({ readOnly: true, roots: [other] })
    await stage.write('work/a', 'x')
    for (const mode of ['create', 'overwrite', 'append']) {
      const args = { path: 'work/a', content: 'y', mode, createFolders: true }
      expect(await stage.error('fs_write', args)).toContain('is read-only')
    }
    expect(await stage.snapshot('work')).toEqual({ [stage.path('work', 'a')]: 'x' })
    expect(await stage.output('fs_info', { path: 'work/a' })).toMatchObject({ isReadOnly: true })
  })

  test('where no root can be changed, the tool is not there', async () => {
    const stage = await FilesStage.open({ readOnly: true })
    const { tools } = await stage.client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(['fs_list', 'fs_info', 'fs_read', 'fs_search'])
  })

  test('content over the limit is refused with its remedy', async () => {
    const stage = await FilesStage.open({ limits: { maxWriteBytes: 3 } })
    expect(await stage.error('fs_write', { path: 'a', content: 'éé' })).toContain('"append"')
  })

  test.each(['work', 'work/sub'])('the folder %s cannot be written', async (path) => {
    const stage = await FilesStage.open()
    await stage.write('work/sub/a')
    expect(await stage.error('fs_write', { path, content: 'x', mode: 'overwrite' })).toMatch(
      /is a (root|folder)/,
    )
  })
})

describe('fs_list', () => {
  test('without a path the roots are listed', async () => {
    const stage = await FilesStage.open({
      readOnly: true,
      roots: [{ name: 'dev', path: '/dev' }],
    })
    expect(await stage.output('fs_list', {})).toMatchObject({
      entries: [
        { path: 'work', type: 'folder', isReadOnly: true },
        { path: 'dev', type: 'folder', isReadOnly: false },
      ],
    })
  })

  test('links are listed as links, and their targets are not', async () => {
    const stage = await FilesStage.open()
    await stage.write('work/a\nb', 'abc')
    await stage.write('work/sub/deep')
    await symlink(stage.path('outside'), stage.path('work', 'link'))
    const result = await stage.call('fs_list', { path: 'work', depth: 9 })
    expect(result.structuredContent).toMatchObject({
      entries: [
        { path: 'work/a\nb', type: 'file', size: 3 },
        { path: 'work/link', type: 'link' },
        { path: 'work/sub', type: 'folder' },
        { path: 'work/sub/deep', type: 'file' },
      ],
    })
    expect(textOf(result)).toBe(
      'work/a\u{fffd}b 3 bytes\nwork/link (link)\nwork/sub/\nwork/sub/deep 0 bytes',
    )
  })

  test('the depth limits the levels', async () => {
    const stage = await FilesStage.open()
    await stage.write('work/a/b/c')
    const paths = async (depth?: number): Promise<string[]> => {
      const { entries } = await stage.output('fs_list', { path: 'work', depth })
      return entries.map(({ path }: { path: string }) => path)
    }
    expect(await paths()).toEqual(['work/a'])
    expect(await paths(2)).toEqual(['work/a', 'work/a/b'])
    expect(await paths(3)).toEqual(['work/a', 'work/a/b', 'work/a/b/c'])
  })

  test('a page continues where the last one ended, also when that entry is gone', async () => {
    const stage = await FilesStage.open()
    for (const name of ['a/1', 'a/2', 'b', 'c']) await stage.write(`work/${name}`)
    const first = await stage.output('fs_list', { path: 'work', depth: 2, limit: 2 })
    expect(first['entries']).toMatchObject([{ path: 'work/a' }, { path: 'work/a/1' }])
    await rename(stage.path('work', 'a'), stage.path('gone'))
    const cursor = first['nextCursor']
    const next = await stage.output('fs_list', { path: 'work', depth: 2, cursor })
    expect(next['entries']).toMatchObject([{ path: 'work/b' }, { path: 'work/c' }])
    expect(next).not.toHaveProperty('nextCursor')
  })

  test.each(['x', Buffer.from('{"after":[1]}').toString('base64url')])(
    'the cursor %s is refused',
    async (cursor) => {
      const stage = await FilesStage.open()
      expect(await stage.error('fs_list', { path: 'work', cursor })).toContain('begin again')
    },
  )
})

describe('resources', () => {
  test('files directly in the roots are listed, and all are readable', async () => {
    const stage = await FilesStage.open()
    await stage.write('work/a.json', '{}')
    await stage.write('work/sub/b.bin', Buffer.from([0, 255]))
    const { resources } = await stage.client.listResources()
    const uri = pathToFileURL(stage.path('work', 'a.json')).href
    expect(resources).toEqual([
      {
        uri,
        name: 'a.json',
        mimeType: 'application/json',
        size: 2,
        description: expect.any(String),
      },
    ])
    expect(await stage.client.readResource({ uri })).toMatchObject({
      contents: [{ uri, mimeType: 'application/json', text: '{}' }],
    })
    const deep = pathToFileURL(stage.path('work', 'sub', 'b.bin')).href
    expect(await stage.client.readResource({ uri: deep })).toMatchObject({
      contents: [{ uri: deep, mimeType: 'application/octet-stream', blob: 'AP8=' }],
    })
    const { resourceTemplates } = await stage.client.listResourceTemplates()
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'file:///{+path}' }])
  })

  test('a resource that is missing, a folder or too large says so', async () => {
    const stage = await FilesStage.open({ limits: { maxReadBytes: 4 } })
    await stage.write('work/large', 'too large')
    const uri = (name: string) => ({ uri: pathToFileURL(stage.path('work', name)).href })
    const read = (name: string) => stage.client.readResource(uri(name))
    await expect(read('missing')).rejects.toThrow('Resource not found')
    await expect(read('large')).rejects.toThrow('by pages with fs_read')
    await expect(stage.client.readResource(uri(''))).rejects.toThrow('is a folder')
  })
})
