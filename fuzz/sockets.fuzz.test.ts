import { Down } from '@mcp-host/contracts'
import { ChatSocket } from '@mcp-host/testkit'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FakeGateway } from '../services/gateway/src/http/__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from '../services/gateway/src/http/__fixtures__/start-fake-gateway.ts'
import { anyText, textLike } from './arbitraries.ts'
import { upFrame } from './up-frame.ts'

let gateway: FakeGateway
beforeAll(async () => {
  gateway = await startFakeGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

/** Bounds the log, whose length is not under test. */
const MAX_ENTRIES = 100

test('a socket answers every frame with valid frames, and stays open', async () => {
  const sent = fc.array(
    fc.record({ text: textLike(upFrame), isBinary: fc.nat({ max: 9 }).map((n) => n === 0) }),
    { maxLength: 6 },
  )
  await fc.assert(
    fc.asyncProperty(sent, async (frames) => {
      if (gateway.bus.entries.length > MAX_ENTRIES) gateway.bus.entries.length = 0
      using chat = await ChatSocket.open({ url: gateway.url })
      for (const { text, isBinary } of frames) chat.socket.send(text, { binary: isBinary })
      chat.send({ type: 'ping' })
      await chat.waitFor(({ type }) => type === 'pong')
      expect(chat.closed).toBeUndefined()
      expect(gateway.errors).toEqual([])
      for (const frame of chat.frames) Down.parse(frame)
    }),
  )
})

test('a socket is opened or refused with a reason, whatever its URL is', async () => {
  const position = fc.oneof(fc.constantFrom('0.0.-.0', '1.0.-.0', '9.9.9.9'), anyText)
  await fc.assert(
    fc.asyncProperty(fc.option(anyText), fc.option(position), async (sessionId, after) => {
      using chat = ChatSocket.start({
        url: gateway.url,
        ...(sessionId === null ? {} : { sessionId: sessionId.toWellFormed() }),
        ...(after === null ? {} : { after: after.toWellFormed() }),
      })
      const welcome = await chat.waitFor(({ type }) => type === 'connection')
      expect(Down.safeParse(welcome).success).toBe(true)
      expect(gateway.errors).toEqual([])
    }),
  )
})
