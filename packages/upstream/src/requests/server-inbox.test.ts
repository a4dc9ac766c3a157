import { describe, expect, test } from 'vitest'

import { ServerInbox, type ServerInboxDeps } from './server-inbox.ts'
import type { ServerRequest, ServerRequestKind } from './server-request.ts'

function create(
  callback: (request: ServerRequest) => unknown,
  answered: readonly ServerRequestKind[],
  roots: readonly string[] = [],
): ServerInbox {
  const nothing = (): void => undefined
  const deps: ServerInboxDeps = {
    callback,
    answered: new Set(answered),
    onListChanged: nothing,
    onResourceUpdated: nothing,
    onLog: nothing,
    onLogFailure: nothing,
    onElicitationComplete: nothing,
  }
  return new ServerInbox(deps, { server: 'it', roots, mask: (text) => text })
}

const { signal } = new AbortController()
const call = { requestId: 'r', tool: 't' }

describe('input requests', () => {
  test('input requests are answered one by one, with the call that they belong to', async () => {
    const seen: ServerRequest[] = []
    const inbox = create(
      (request) => {
        seen.push(request)
        return { from: request.kind }
      },
      ['sampling', 'elicitation', 'roots'],
    )
    const answers = await inbox.answerAll(
      {
        a: { method: 'sampling/createMessage', params: { maxTokens: 1 } },
        b: { method: 'roots/list' },
      },
      call,
      signal,
    )
    expect(answers).toEqual({ a: { from: 'sampling' }, b: { from: 'roots' } })
    expect(seen).toEqual([
      { kind: 'sampling', server: 'it', params: { maxTokens: 1 }, call, signal },
      { kind: 'roots', server: 'it', call, signal },
    ])
  })

  test('a choice of numbers in an input request is answered with a number', async () => {
    const inbox = create(() => ({ action: 'accept', content: { a: '2' } }), ['elicitation'])
    const requestedSchema = { type: 'object', properties: { a: { enum: [1, 2] } } }
    const form = { method: 'elicitation/create', params: { message: '?', requestedSchema } }
    expect(await inbox.answerAll({ form }, call, signal)).toEqual({
      form: { action: 'accept', content: { a: 2 } },
    })
  })

  test('an answer to an input request is completed with the defaults of its form', async () => {
    const inbox = create(() => ({ action: 'accept' }), ['elicitation'])
    const requestedSchema = { type: 'object', properties: { a: { type: 'string', default: 'x' } } }
    const form = { method: 'elicitation/create', params: { message: '?', requestedSchema } }
    expect(await inbox.answerAll({ form }, call, signal)).toEqual({
      form: { action: 'accept', content: { a: 'x' } },
    })
  })

  test('an input request for roots is answered with the configured roots', async () => {
    const inbox = create(() => 'wrong', [], ['file:///a'])
    expect(await inbox.answerAll({ a: { method: 'roots/list' } }, call, signal)).toEqual({
      a: { roots: [{ uri: 'file:///a' }] },
    })
  })

  test.each([
    ['no callback handles', 'sampling/createMessage'],
    ['the host does not know', 'anything/else'],
  ])('an input request that %s is an error', async (_title, method) => {
    const inbox = create(() => ({}), ['elicitation'])
    await expect(inbox.answerAll({ a: { method } }, call, signal)).rejects.toThrow(
      `nobody answers "${method}"`,
    )
  })

  test('more than 100 input requests at once are an error, and none is answered', async () => {
    const seen: ServerRequest[] = []
    const inbox = create((request) => seen.push(request), ['roots'])
    const many = Object.fromEntries(
      Array.from({ length: 101 }, () => ({ method: 'roots/list' })).entries(),
    )
    await expect(inbox.answerAll(many, call, signal)).rejects.toThrow('at most 100')
    expect(seen).toEqual([])
  })

  test('an input request is an error when the callback throws', async () => {
    const inbox = create(() => Promise.reject(new Error('nobody is there')), ['roots'])
    const answers = inbox.answerAll({ a: { method: 'roots/list' } }, call, signal)
    await expect(answers).rejects.toThrow('nobody is there')
  })
})
