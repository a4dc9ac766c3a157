import { MetaKey } from '@mcp-host/mcp'
import { expect, test } from 'vitest'
import { InputNeeded } from '../steps/follow-link.ts'
import { askingLink, repeatedLink, withoutLinkAnswer } from './link-for-caller.ts'

const link = { url: 'https://host.example/connect/notes', message: 'Log in.' }
const able = { _meta: { [MetaKey.clientCapabilities]: { elicitation: { url: {} } } } }
const answered = (action: string) => ({ inputResponses: { 'mcp-host-link': { action } } })
const { signal } = new AbortController()
const never = new Promise<void>(() => undefined)

test('a client of 2026-07-28 is asked by the result, and repeats the request with its answer', async () => {
  const asked = await repeatedLink(able, signal)(link, never).catch((error: unknown) => error)
  expect(asked).toBeInstanceOf(InputNeeded)
  expect(asked).toMatchObject({
    inputRequests: {
      'mcp-host-link': { method: 'elicitation/create', params: { mode: 'url', ...link } },
    },
  })
  const again = repeatedLink({ ...able, ...answered('accept') }, signal)
  expect(await again(link, Promise.resolve())).toBe(true)
  expect(await repeatedLink({ ...able, ...answered('decline') }, signal)(link, never)).toBe(false)
})

test('a client that shows no pages is not asked', async () => {
  expect(await repeatedLink({}, signal)(link, never)).toBe(false)
  const forms = { _meta: { [MetaKey.clientCapabilities]: { elicitation: { form: {} } } } }
  expect(await repeatedLink(forms, signal)(link, never)).toBe(false)
})

test('an older client is asked during its request', async () => {
  const asked: unknown[] = []
  const ask = async (...question: unknown[]): Promise<object> => {
    asked.push(question.slice(0, 2))
    return { action: 'accept' }
  }
  expect(await askingLink(ask, signal)(link, Promise.resolve())).toBe(true)
  expect(asked).toEqual([
    ['elicitation/create', { mode: 'url', elicitationId: expect.any(String), ...link }],
  ])
})

test('the server gets no answer to a question that is not its own', () => {
  const own = { name: 'a', inputResponses: { theirs: { action: 'accept' } } }
  expect(withoutLinkAnswer(own)).toBe(own)
  expect(withoutLinkAnswer({ name: 'a', ...answered('accept') })).toEqual({ name: 'a' })
  const both = { inputResponses: { ...own.inputResponses, ...answered('accept').inputResponses } }
  expect(withoutLinkAnswer({ name: 'a', ...both })).toEqual(own)
})
