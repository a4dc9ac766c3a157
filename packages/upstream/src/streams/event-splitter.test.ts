import { expect, test } from 'vitest'

import { EventSplitter } from './event-splitter.ts'

function split(...chunks: string[]): string[] {
  const splitter = new EventSplitter()
  const events = chunks.flatMap((chunk) => [...splitter.push(Buffer.from(chunk))].map(String))
  return [...events, splitter.rest().toString()]
}

test.each([
  [['data: 1\n\ndata: 2\n\nda'], ['data: 1\n\n', 'data: 2\n\n', 'da']],
  [
    ['data: 1\n', '\ndata: 2', '\n\n'],
    ['data: 1\n\n', 'data: 2\n\n', ''],
  ],
  [
    ['data: 1\r\n\r\ndata: 2\r\n', '\r', '\n'],
    ['data: 1\r\n\r', '\ndata: 2\r\n\r', '\n'],
  ],
  [
    ['data: 1\r\rdata: 2\r', '\r'],
    ['data: 1\r\r', 'data: 2\r\r', ''],
  ],
  [['id: 1\ndata: a\ndata: b\n\n'], ['id: 1\ndata: a\ndata: b\n\n', '']],
  [
    ['data: a\rdata: b\ndata: c\n\rdata: d\r\n', 'data: e\n', '\r\n'],
    ['data: a\rdata: b\ndata: c\n\r', 'data: d\r\ndata: e\n\r', '\n'],
  ],
  [['\n\n: ping\n\n'], ['\n', '\n', ': ping\n\n', '']],
])('the events of %j are %j', (chunks, events) => {
  expect(split(...chunks)).toEqual(events)
})
