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

describe('the input that a result asks for', () => {
  test('is answered piece by piece, for the call that it belongs to', async () => {
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

  test('has the defaults of a form', async () => {
    const inbox = create(() => ({ action: 'accept' }), ['elicitation'])
    const requestedSchema = { type: 'object', properties: { a: { type: 'string', default: 'x' } } }
    const form = { method: 'elicitation/create', params: { message: '?', requestedSchema } }
    expect(await inbox.answerAll({ form }, call, signal)).toEqual({
      form: { action: 'accept', content: { a: 'x' } },
    })
  })

  test('is what is configured, for roots', async () => {
    const inbox = create(() => 'wrong', [], ['file:///a'])
    expect(await inbox.answerAll({ a: { method: 'roots/list' } }, call, signal)).toEqual({
      a: { roots: [{ uri: 'file:///a' }] },
    })
  })

  test.each([
    ['nobody answers', 'sampling/createMessage'],
    ['nobody knows', 'anything/else'],
  ])('is an error where %s it', async (_title, method) => {
    const inbox = create(() => ({}), ['elicitation'])
    await expect(inbox.answerAll({ a: { method } }, call, signal)).rejects.toThrow(
      `nobody answers "${method}"`,
    )
  })

  test('is an error where the callback throws', async () => {
    const inbox = create(() => Promise.reject(new Error('nobody is there')), ['roots'])
    const asked = inbox.answerAll({ a: { method: 'roots/list' } }, call, signal)
    await expect(asked).rejects.toThrow('nobody is there')
  })
})
