import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ChatClient } from './chat-client.ts'

/** Frames that were sent, by their types. */
let sent: string[]

/** Of a WebSocket what the client uses. */
class FakeSocket extends EventTarget {
  static readonly OPEN = 1
  static latest: FakeSocket
  readonly readyState = FakeSocket.OPEN

  constructor() {
    super()
    FakeSocket.latest = this
    queueMicrotask(() =>
      this.receive('connection', { state: 'connected', message: '', sessionId: 's'.repeat(32) }),
    )
  }

  send(frame: string): void {
    sent.push((JSON.parse(frame) as { type: string }).type)
  }

  receive(type: string, payload: object): void {
    const data = JSON.stringify({ type, id: '0.0.-.0', payload })
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
}

beforeEach(() => {
  sent = []
  vi.stubGlobal('WebSocket', FakeSocket)
})
afterEach(() => void vi.unstubAllGlobals())

test('a message that is to end before it is accepted is ended once it is', async () => {
  const quiet = (): void => undefined
  const client = new ChatClient({
    url: 'http://127.0.0.1:1',
    onWelcome: quiet,
    onEvent: quiet,
    onRefused: quiet,
    onAnswerRefused: quiet,
    onLost: quiet,
    onConnection: quiet,
  })
  await client.connect()
  client.say('hello', { id: 'm1' })
  client.cancel('m1')
  expect(sent).toEqual(['message'])
  FakeSocket.latest.receive('accepted', { messageId: 'm1', duplicate: false })
  expect(sent).toEqual(['message', 'cancel'])
})
