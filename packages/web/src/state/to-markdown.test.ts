import type { Message } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { toMarkdown } from './to-markdown.ts'

const message = (role: Message['role'], given: Partial<Message> = {}): Message => ({
  id: 'm1',
  role,
  createdAt: 1,
  metadata: { messageId: 'm1' },
  ...given,
})

/** A call of a tool whose result is a text. */
const call = (text: string): Message =>
  message('tool', {
    toolName: 'files.read',
    data: { arguments: { path: '/a' }, outcome: 'ok', content: [{ type: 'text', text }] },
  })

/** The document without its first line, the title. */
const written = (...messages: readonly Message[]): string =>
  toMarkdown('Trip', messages).replace('# Trip\n\n', '')

test('a document has the title, messages and answers in their order', () => {
  const messages = [
    message('user', { content: 'Where to?' }),
    message('assistant', { content: 'To **Rome**' }),
    message('user', { content: 'When?' }),
  ]
  expect(toMarkdown('Trip', messages)).toBe(
    '# Trip\n\n## You\n\n> Where to?\n\n## Answer\n\n> To **Rome**\n\n## You\n\n> When?\n',
  )
})

test('a tool call has its arguments, outcome and result', () => {
  const [heading, json] = written(call('found it')).split('\n\n```json\n')
  expect(heading).toBe('### Tool files.read')
  expect(json?.endsWith('\n```\n')).toBe(true)
  expect(JSON.parse(json?.replace('```', '') ?? '')).toEqual({
    arguments: { path: '/a' },
    outcome: 'Done',
    result: [{ type: 'text', text: 'found it' }],
  })
})

test('a call that was not run is told in the words of the page', () => {
  const text = 'not run: the user did not allow this call. Do not try it again.'
  const data = {
    arguments: {},
    approval: { how: 'decline', by: 'user:ann' },
    outcome: 'refused',
    content: [{ type: 'text', text }],
  } as const
  const document = written(
    message('tool', { toolName: 'files.write', data: { ...data, content: [...data.content] } }),
  )
  const [, json = ''] = document.split('```json\n')
  expect(JSON.parse(json.replace('```', ''))).toEqual({
    arguments: {},
    approval: 'user:ann said no',
    outcome: 'Not run',
    result: [{ type: 'text', text: 'The user did not allow this call.' }],
  })
})

test('a result with a fence of backticks does not end the fence around it', () => {
  const document = written(call('````md\nhi\n````'), message('assistant', { content: 'end' }))
  const [, fence = '', json = '', rest] = document.match(/^(`+)json\n([^]*?)\n\1\n([^]*)$/m) ?? []
  expect(fence).toBe('`````')
  expect(JSON.parse(json)).toMatchObject({ result: [{ text: '````md\nhi\n````' }] })
  expect(rest).toBe('\n## Answer\n\n> end\n')
})

test('a message without text and a call without a result keep their headings', () => {
  const running = message('tool', { toolName: 'files.read', data: { arguments: {} } })
  expect(written(message('user'), running)).toBe(
    '## You\n\n\n\n### Tool files.read\n\n```json\n{\n  "arguments": {}\n}\n```\n',
  )
})

test('an answer without text is left out, and a note of the host says so', () => {
  const note = message('system', { content: 'The context was\nshortened' })
  expect(written(message('assistant', { content: '' }), message('assistant'), note)).toBe(
    '## Note of the host\n\n> The context was\n> shortened\n',
  )
})

test('files of a message are named with their type and size', () => {
  const blob = { key: 'k', bytes: 6, digest: '' }
  const attachments = [
    { mimeType: 'text/plain', name: 'note.txt', blob },
    { mimeType: 'image/png', blob },
  ]
  const metadata = { messageId: 'm1', attachments }
  expect(written(message('user', { content: 'See', metadata }))).toBe(
    '## You\n\n> See\n\nFiles:\n\n- note.txt (text/plain, 6 bytes)\n- file (image/png, 6 bytes)\n',
  )
})

test.each([
  '## You\n\nSend the money',
  'You\n---\nSend the money',
  '<h2>You</h2>',
  'fine\r\n## Answer\r\nof nobody',
  'fine\r## Answer',
  '```\nan open fence',
])('the text %j makes no heading of the document', (text) => {
  const attachments = [{ mimeType: text, name: text, blob: { key: 'k', bytes: 6, digest: '' } }]
  const metadata = { messageId: 'm1', attachments }
  const document = toMarkdown(text, [
    message('user', { content: text, metadata }),
    message('assistant', { content: text }),
    message('system', { content: text }),
    message('tool', { toolName: text, data: { arguments: {} } }),
  ])
  const unquoted = document.split(/\r\n|\r|\n/).filter((line) => !line.startsWith('>'))
  const marked = unquoted.filter((line) => /^ {0,3}(?:#|-+$|=+$|<)/.test(line))
  expect(marked.map((line) => line.split(' ', 2).join(' '))).toEqual([
    expect.stringMatching(/^# /),
    '## You',
    '## Answer',
    '## Note',
    '### Tool',
  ])
})
