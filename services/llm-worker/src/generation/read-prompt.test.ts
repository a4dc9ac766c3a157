import type { GenerateRequest, GenerationId, SessionId, ToolCallId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { readPrompt } from './read-prompt.ts'

const request: GenerateRequest = {
  session: 'session' as SessionId,
  turn: 1,
  generation: 'session-0' as GenerationId,
  deadline: 0,
  messages: [],
  tools: [],
}
const blob = (key: string, bytes = 2) => ({ key: `session.${key}`, bytes, digest: 'd' })
/** Texts in the object store, by key. */
const stored: Readonly<Record<string, string>> = {
  image: 'hi',
  prompt: JSON.stringify({ messages: [{ role: 'user', text: 'from the store' }], tools: [] }),
  broken: '{"messages":5}',
}
const blobs = {
  async get(key: string, { digest }: { readonly digest?: string | undefined } = {}) {
    const text = stored[key.replace('session.', '')]
    if (text === undefined || digest !== 'd')
      throw new BusError('not-found', `there is no "${key}"`)
    return Uint8Array.from(Buffer.from(text))
  },
}

test('stored files are loaded into messages and tool results', async () => {
  const image = { mimeType: 'image/png', blob: blob('image') }
  const answer = { call: 'session-0-0' as ToolCallId, name: 't', text: 'see', isError: false }
  const { messages } = await readPrompt(blobs, {
    ...request,
    messages: [
      { role: 'user', text: 'look', media: [image, { mimeType: 'image/gif', data: 'AAAA' }] },
      { role: 'assistant', content: [] },
      { role: 'tool', answers: [{ ...answer, media: [image] }] },
    ],
  })
  const loaded = { mimeType: 'image/png', data: Buffer.from('hi').toString('base64') }
  expect(messages).toEqual([
    { role: 'user', text: 'look', media: [loaded, { mimeType: 'image/gif', data: 'AAAA' }] },
    { role: 'assistant', content: [] },
    { role: 'tool', answers: [{ ...answer, media: [loaded] }] },
  ])
})

test('an expired file is replaced by a note to the model', async () => {
  const { messages } = await readPrompt(blobs, {
    ...request,
    messages: [
      {
        role: 'user',
        text: 'look',
        media: [{ mimeType: 'image/png', name: 'a.png', blob: blob('gone') }],
      },
    ],
  })
  expect(messages).toEqual([
    { role: 'user', text: 'look\n[The file a.png is not kept any more.]', media: [] },
  ])
})

test('a file or prompt that was replaced is not loaded', async () => {
  const replaced = { ...blob('image'), digest: 'other' }
  const media = [{ mimeType: 'image/png', blob: replaced }]
  const user = { role: 'user', text: 'look', media } as const
  const { messages } = await readPrompt(blobs, { ...request, messages: [user] })
  const text = 'look\n[The file image/png is not kept any more.]'
  expect(messages).toEqual([{ role: 'user', text, media: [] }])
  const reading = readPrompt(blobs, { ...request, prompt: { ...blob('prompt'), digest: 'other' } })
  await expect(reading).rejects.toMatchObject({ code: 'not-found' })
})

test('a stored prompt is loaded, and refused when it is invalid', async () => {
  expect(await readPrompt(blobs, { ...request, prompt: blob('prompt') })).toEqual({
    messages: [{ role: 'user', text: 'from the store' }],
    tools: [],
  })
  const reading = readPrompt(blobs, { ...request, prompt: blob('broken') })
  await expect(reading).rejects.toMatchObject({ code: 'invalid' })
})

test('the newest files within the limits are sent, and none of other sessions', async () => {
  const file = (name: string, bytes: number) => ({
    mimeType: 'image/png',
    name,
    blob: blob('image', bytes),
  })
  const { messages } = await readPrompt(blobs, {
    ...request,
    messages: [
      { role: 'user', text: 'old', media: [file('a', 15_000_000), file('b', 2)] },
      { role: 'user', text: 'new', media: [file('c', 15_000_000)] },
      {
        role: 'user',
        text: 'not mine',
        media: [{ mimeType: 'image/png', blob: { ...blob(''), key: 'other.x' } }],
      },
    ],
  })
  const data = Buffer.from('hi').toString('base64')
  const left = 'is left out here: there are too many, or it is too large'
  expect(messages).toEqual([
    {
      role: 'user',
      text: `old\n[The file a ${left}.]`,
      media: [{ mimeType: 'image/png', name: 'b', data }],
    },
    { role: 'user', text: 'new', media: [{ mimeType: 'image/png', name: 'c', data }] },
    { role: 'user', text: 'not mine\n[The file image/png is not of this session.]', media: [] },
  ])
})
