import { expect, test } from 'vitest'
import { mediaOf } from './media-of.ts'

const stored = { key: 'k', bytes: 3, digest: 'd' }

type Block = { readonly type: string } & Readonly<Record<string, unknown>>

test.each<[string, Block, object | undefined]>([
  [
    'an image',
    { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations: {} },
    { data: 'AAAA', mimeType: 'image/png' },
  ],
  [
    'stored audio',
    { type: 'audio', mimeType: 'audio/wav', stored },
    { mimeType: 'audio/wav', blob: stored },
  ],
  [
    'a binary resource',
    {
      type: 'resource',
      resource: { uri: 'file:///a/b.pdf', mimeType: 'application/pdf', blob: 'AAAA' },
    },
    { mimeType: 'application/pdf', name: 'b.pdf', data: 'AAAA' },
  ],
  [
    'a stored resource without a type',
    { type: 'resource', resource: { uri: 'x://y', stored } },
    { mimeType: 'application/octet-stream', name: 'y', blob: stored },
  ],
  ['a text', { type: 'text', text: 'a' }, undefined],
  ['a text resource', { type: 'resource', resource: { uri: 'x://y', text: 'a' } }, undefined],
  ['a link', { type: 'resource_link', uri: 'x://y', mimeType: 'image/png' }, undefined],
  ['an invalid image', { type: 'image', data: 5, mimeType: 'image/png' }, undefined],
])('the media of %s are found', (_, block, media) => {
  expect(mediaOf(block)).toEqual(media)
})
