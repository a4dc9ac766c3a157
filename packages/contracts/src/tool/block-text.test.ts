import { expect, test } from 'vitest'
import { blockText } from './block-text.ts'

test.each<[{ type: string } & Record<string, unknown>, string]>([
  [{ type: 'text', text: 'hello' }, 'hello'],
  [{ type: 'resource', resource: { uri: 'x://y', text: 'hello' } }, 'hello'],
  [
    {
      type: 'resource_link',
      name: 'report',
      title: 'Annual report',
      uri: 'file:///report-4711.pdf',
      mimeType: 'application/pdf',
      description: 'All figures.',
      size: 12,
    },
    '[resource_link name: report, title: Annual report, uri: file:///report-4711.pdf, mimeType: application/pdf, description: All figures., size: 12]',
  ],
  [{ type: 'resource_link', uri: 'x://y' }, '[resource_link uri: x://y]'],
  [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }, '[image image/png]'],
  [{ type: 'audio', data: 'AAAA' }, '[audio]'],
  [
    { type: 'resource', resource: { uri: 'x://out.pdf', mimeType: 'application/pdf', blob: 'AA' } },
    '[resource application/pdf x://out.pdf]',
  ],
  [{ type: 'chart', points: [1, 2] }, '{"type":"chart","points":[1,2]}'],
  [
    { type: 'video', data: 'A'.repeat(501), name: 'a' },
    '{"type":"video","data":"… 501 characters","name":"a"}',
  ],
])('of the block %j a model is told %j', (block, text) => {
  expect(blockText(block)).toBe(text)
})

test('what is told of an unknown block is short', () => {
  expect(blockText({ type: 'list', items: Array.from({ length: 10_000 }, () => 1) })).toHaveLength(
    2_001,
  )
})
