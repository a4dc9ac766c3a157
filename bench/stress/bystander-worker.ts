// Sessions that chat while others load the host. Posts the figures of each turn; an error ends the thread.
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { script } from '@mcp-host/testkit'
import type { BystanderSetup, BystanderTurn } from './bystanders.ts'
import { TimedChat } from '../timed-chat.ts'

/** Time from the beginning of one turn to the next. */
const PERIOD_MS = 1_000
const [BEFORE, AFTER] = ['I call it. ', 'It has answered.']
const MESSAGE = script(
  { text: BEFORE, calls: [{ name: 'test__echo', arguments: { text: 'hello' } }] },
  { text: AFTER },
)

const { url, sessions } = workerData as BystanderSetup

async function chat(index: number): Promise<never> {
  const user = await TimedChat.open(url)
  await delay((index / sessions) * PERIOD_MS)
  for (;;) {
    const { at, firstText, turn, text } = await user.ask(MESSAGE)
    if (text !== BEFORE + AFTER) throw new Error(`a bystander got a wrong answer: ${text}`)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage({ at, firstText, turn } satisfies BystanderTurn)
    await delay(Math.max(0, PERIOD_MS - turn))
  }
}

await Promise.all(Array.from({ length: sessions }, (_, index) => chat(index)))
