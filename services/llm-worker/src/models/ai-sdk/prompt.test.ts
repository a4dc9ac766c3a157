import type { PromptMessage, ToolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { toPrompt } from './prompt.ts'

const rules = {
  own: 'x',
  reads: ['image/'],
  hidden: new Set<never>(),
  isAlternating: false,
  isWithReasoning: false,
}
const prompt = (messages: PromptMessage[], more: Partial<typeof rules> = {}) =>
  toPrompt({ messages }, { ...rules, ...more })
const roles = (messages: PromptMessage[], more?: Partial<typeof rules>) =>
  prompt(messages, more).map(({ role }) => role)

const call = (index: number) => `session-12-${index}` as ToolCallId
const user = (text: string): PromptMessage => ({ role: 'user', text })
const model = (text: string): PromptMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
})
const calling = (index: number): PromptMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', id: call(index), name: 't', arguments: {} }],
})
const picture = { mimeType: 'image/png', data: 'aGk=' }
const answering = (index: number, ...media: (typeof picture)[]): PromptMessage => ({
  role: 'tool',
  answers: [
    {
      call: call(index),
      name: 't',
      text: 'done',
      isError: false,
      ...(media.length > 0 && { media }),
    },
  ],
})

test('the ids of calls have nine letters and digits, are unique, and stay while the conversation grows', () => {
  const turn = (index: number) => [user('q'), calling(index), answering(index)]
  const ids = (messages: PromptMessage[]) =>
    prompt(messages).flatMap(({ content }) =>
      (content as { toolCallId?: string }[]).flatMap(({ toolCallId }) => toolCallId ?? []),
    )
  const found = ids([...turn(0), ...turn(41)])
  expect(found).toEqual(found.filter((id) => /^[a-zA-Z0-9]{9}$/.test(id)))
  expect([found[0] === found[1], found[2] === found[3], new Set(found).size]).toEqual([
    true,
    true,
    2,
  ])
  expect(ids([...turn(0), ...turn(41), ...turn(7)]).slice(0, 4)).toEqual(found)
})

test('messages of the user in a row become one text', () => {
  const messages = [
    user('first'),
    { role: 'assistant', content: [] } as PromptMessage,
    user('second'),
  ]
  expect(prompt(messages)).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'first\n\nsecond' }] },
  ])
})

test.each<[string, PromptMessage[], string[]]>([
  [
    'a stopped answer',
    [user('a'), model('so far'), user('[stopped]'), user('b')],
    ['user', 'assistant', 'user'],
  ],
  ['a stop before any text', [user('a'), user('[stopped]'), user('b')], ['user']],
  [
    'pictures of a tool before the next message',
    [user('a'), calling(0), answering(0, picture), user('b')],
    ['user', 'assistant', 'tool', 'user'],
  ],
  [
    'two answers in a row',
    [user('a'), model('half'), calling(0), answering(0), model('end')],
    ['user', 'assistant', 'tool', 'assistant'],
  ],
])('user and model take turns after %s', (_, messages, expected) => {
  expect(roles(messages)).toEqual(expected)
})

test.each(['', ' \n'])('a message of files with the text %j has no text part', (text) => {
  const [message] = prompt([{ role: 'user', text, media: [picture] }])
  expect(message?.content).toMatchObject([{ type: 'file', mediaType: 'image/png' }])
})

test('pictures keep their place in a joined message', () => {
  const [message] = prompt([{ role: 'user', text: 'a', media: [picture] }, user('b'), user('c')])
  expect(message?.content).toMatchObject([
    { type: 'text', text: 'a' },
    { type: 'file', mediaType: 'image/png' },
    { type: 'text', text: 'b\n\nc' },
  ])
})

test('where it is required, an answer stands between a result and a message of the user', () => {
  const messages = [user('a'), calling(0), answering(0, picture), user('b')]
  expect(roles(messages, { isAlternating: true })).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ])
})

test('reasoning without a seal is sent back only where it is required', () => {
  const thought: PromptMessage = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'yes' },
    ],
  }
  expect(prompt([user('a'), thought])[1]?.content).toEqual([{ type: 'text', text: 'yes' }])
  expect(prompt([user('a'), thought], { isWithReasoning: true })[1]?.content).toEqual([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'yes' },
  ])
})

test('a text file in UTF-16 is sent as its text', () => {
  const bytes = Buffer.from('\uFEFFname;size\r\n', 'utf16le')
  const file = { mimeType: 'text/csv', name: 'list.csv', data: bytes.toString('base64') }
  expect(prompt([{ role: 'user', text: 'read it', media: [file] }])).toMatchObject([
    { content: [{ text: 'read it' }, { text: 'File list.csv (text/csv):\nname;size\r\n' }] },
  ])
})

test.each([
  ['a token of its template', 'lookup<|message|>json', 'lookup__message__json'],
  ['dots', 'pages.list.all', 'pages_list_all'],
  ['spaces and other letters', 'finde Bücher', 'finde_B_cher'],
  ['80 letters', 'x'.repeat(80), 'x'.repeat(64)],
  ['a sign first', '$SHOW', '_SHOW'],
  ['a digit first', '2nd', '_2nd'],
  ['no letter', '', '_'],
])('the made-up name of a tool with %s is sent back as one that is valid', (_, name, sent) => {
  const sendBack = prompt([
    { role: 'assistant', content: [{ type: 'tool-call', id: call(0), name, arguments: {} }] },
    { role: 'tool', answers: [{ call: call(0), name, text: 'unknown tool', isError: true }] },
  ])
  expect(sendBack).toMatchObject([
    { content: [{ toolName: sent, input: {} }] },
    { content: [{ toolName: sent }] },
  ])
  expect(sent).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
})

test.each([null, [], [{ a: 1 }], 'text', 7])(
  'arguments that are no object (%j) are sent back as an object',
  (given) => {
    const content = [{ type: 'tool-call' as const, id: call(0), name: 't', arguments: given }]
    expect(prompt([{ role: 'assistant', content }])).toMatchObject([
      { content: [{ input: { rawInvalidInput: given } }] },
    ])
  },
)

test('text of spaces alone is not sent, except as the whole message of a user', () => {
  const blank: PromptMessage = {
    role: 'assistant',
    content: [
      { type: 'text', text: '\n\n' },
      { type: 'tool-call', id: call(0), name: 't', arguments: {} },
    ],
  }
  expect(prompt([user(' '), model('\n'), blank])).toMatchObject([
    { role: 'user', content: [{ type: 'text' }] },
    { role: 'assistant', content: [{ type: 'tool-call' }] },
  ])
  expect(prompt([{ role: 'user', text: '', media: [picture] }])).toMatchObject([
    { content: [{ type: 'file' }] },
  ])
})
