import { expect, test } from 'vitest'
import { mediaOf } from './block-media.ts'

const fileUrl = (key: string): string => `/file/${key}`
const stored = { key: 'k1', bytes: 9, digest: '' }

test.each([
  ['image/png', 'picture', 'data:image/png;base64,QQ=='],
  ['IMAGE/WEBP', 'picture', 'data:image/webp;base64,QQ=='],
  ['audio/wav', 'sound', 'data:audio/wav;base64,QQ=='],
  ['audio/mpeg', 'sound', 'data:audio/mpeg;base64,QQ=='],
  ['image/svg+xml', 'file', 'data:application/octet-stream;base64,QQ=='],
  ['text/html', 'file', 'data:application/octet-stream;base64,QQ=='],
  ['image/png;x=,<script>', 'file', 'data:application/octet-stream;base64,QQ=='],
  [7, 'file', 'data:application/octet-stream;base64,QQ=='],
])('bytes of type %j are a %s', (mimeType, kind, url) => {
  for (const type of ['image', 'audio'])
    expect(mediaOf({ type, mimeType, data: 'QQ==' }, fileUrl)).toMatchObject({
      kind,
      url,
      name: 'file',
    })
  const resource = { uri: 'file:///a/b.bin', mimeType, blob: 'QQ==' }
  expect(mediaOf({ type: 'resource', resource }, fileUrl)).toMatchObject({
    kind,
    url,
    name: 'b.bin',
  })
})

test('bytes that the host keeps are at its address', () => {
  const direct = { type: 'audio', mimeType: 'audio/ogg', stored }
  expect(mediaOf(direct, fileUrl)).toEqual({
    kind: 'sound',
    url: '/file/k1',
    name: 'file',
    mimeType: 'audio/ogg',
  })
  const resource = { uri: 'file:///a/', mimeType: 'application/pdf', stored }
  expect(mediaOf({ type: 'resource', resource }, fileUrl)).toEqual({
    kind: 'file',
    url: '/file/k1',
    name: 'file',
    mimeType: 'application/pdf',
  })
})

test.each([
  { type: 'text', text: 'QQ==', data: 'QQ==' },
  { type: 'resource_link', uri: 'file:///a' },
  { type: 'resource', resource: { uri: 'file:///a', text: 'words' } },
  { type: 'resource' },
  { type: 'resource', resource: 7 },
  { type: 'image', mimeType: 'image/png', data: 'not "base64"' },
  { type: 'image', mimeType: 'image/png', stored: { key: 7 } },
  { type: 'future', data: 'QQ==' },
])('%j has no bytes to show', (block) => {
  expect(mediaOf(block, fileUrl)).toBeUndefined()
})

test.each([
  ['file:///a/b.pdf', 'b.pdf'],
  ['file:///a/r%C3%A9sum%C3%A9.pdf?version=2', 'résumé.pdf'],
  ['https://example.com/fdp.%E2%80%AEexe', 'fdp.exe'],
  ['file:///a/..%2F..%5Cb', '....b'],
  ['file:///a/%FF', 'file'],
  ['file:///a/', 'file'],
  ['no address', 'file'],
  ['', 'file'],
])('the file of %j is offered as %j', (uri, name) => {
  const resource = { uri, blob: 'QQ==' }
  expect(mediaOf({ type: 'resource', resource }, fileUrl)).toMatchObject({ name })
})
