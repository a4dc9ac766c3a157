import { expect, test } from 'vitest'
import { mediaOf } from './media-of.ts'

const stored = { key: 'k', bytes: 3, digest: 'd' }

type Block = { readonly type: string } & Readonly<Record<string, unknown>>

test.each<[string, Block, object | undefined]>([
  [
    'a picture',
    { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations: {} },
    { data: 'AAAA', mimeType: 'image/png' },
  ],
  [
    'a stored sound',
    { type: 'audio', mimeType: 'audio/wav', stored },
    { mimeType: 'audio/wav', blob: stored },
  ],
  [
    'a file in a resource',
    {
      type: 'resource',
      resource: { uri: 'file:///a/b.pdf', mimeType: 'application/pdf', blob: 'AAAA' },
    },
    { mimeType: 'application/pdf', name: 'b.pdf', data: 'AAAA' },
  ],
  [
    'a stored one of no type',
    { type: 'resource', resource: { uri: 'x://y', stored } },
    { mimeType: 'application/octet-stream', name: 'y', blob: stored },
  ],
  ['a text', { type: 'text', text: 'a' }, undefined],
  ['a text in a resource', { type: 'resource', resource: { uri: 'x://y', text: 'a' } }, undefined],
  ['a link', { type: 'resource_link', uri: 'x://y', mimeType: 'image/png' }, undefined],
  ['a picture that is none', { type: 'image', data: 5, mimeType: 'image/png' }, undefined],
])('of %s', (_, block, media) => {
  expect(mediaOf(block)).toEqual(media)
})
