import { expect, test } from 'vitest'
import type { ToolResult } from '../state/turn.ts'
import { toolNotice } from './tool-notice.ts'

const text = { type: 'text', text: 'hello' }

const files: Readonly<Record<string, string>> = {
  picture: 'bytes',
  whole: JSON.stringify({ content: [text], structuredContent: { rows: [1, 2] } }),
}
const read = async (key: string): Promise<Blob> => new Blob([files[key] ?? ''])
const noticeOf = (result: Partial<ToolResult>) =>
  toolNotice({ outcome: 'ok', content: [text], ...result }, read)

test('an app gets the result of its tool', async () => {
  expect(await noticeOf({ structuredContent: { a: 1 } })).toEqual({
    method: 'ui/notifications/tool-result',
    params: { content: [text], structuredContent: { a: 1 } },
  })
})

test.each([[[1]], [7], [null]])('%j as structured content is not for apps', async (value) => {
  expect((await noticeOf({ structuredContent: value })).params).toEqual({ content: [text] })
})

test('a failure is told with its reason', async () => {
  const error = { code: 'deadline', message: 'too slow' } as const
  expect(await noticeOf({ outcome: 'error', error, content: [] })).toEqual({
    method: 'ui/notifications/tool-result',
    params: { content: [{ type: 'text', text: 'too slow' }], isError: true },
  })
})

test.each(['refused', 'cancelled', 'unknown'] as const)('%s ends the call', async (outcome) => {
  expect(await noticeOf({ outcome })).toEqual({
    method: 'ui/notifications/tool-cancelled',
    params: { reason: outcome },
  })
})

test('a result that is kept as a file is whole again', async () => {
  const blob = { key: 'whole', bytes: 60, digest: 'd' }
  expect((await noticeOf({ content: [], blob })).params).toEqual({
    content: [text],
    structuredContent: { rows: [1, 2] },
  })
  const huge = { ...blob, bytes: 9_000_000 }
  expect((await noticeOf({ blob: huge })).params).toEqual({ content: [text] })
})

test('pictures and files of a result have their bytes again', async () => {
  const stored = { key: 'picture', bytes: 5, digest: 'd' }
  const content = [
    { type: 'image', mimeType: 'image/png', stored },
    { type: 'resource', resource: { uri: 'x://y', stored } },
  ]
  const data = btoa('bytes')
  expect((await noticeOf({ content })).params).toMatchObject({
    content: [
      { type: 'image', mimeType: 'image/png', data },
      { type: 'resource', resource: { uri: 'x://y', blob: data } },
    ],
  })
})

test('files beyond the limit are named, and not read', async () => {
  const reads: string[] = []
  const stored = (key: string, bytes: number) => ({ type: 'image', stored: { key, bytes } })
  const content = [stored('a', 5_000_000), stored('b', 5_000_000), text]
  const notice = await toolNotice({ outcome: 'ok', content }, async (key) => {
    reads.push(key)
    return new Blob([new Uint8Array(100_000)])
  })
  expect(reads).toEqual(['a'])
  expect(notice.params).toMatchObject({
    content: [
      { type: 'image', data: Buffer.alloc(100_000).toString('base64') },
      { type: 'text', text: '(A file of 5000000 bytes is too large for an app.)' },
      text,
    ],
  })
})
