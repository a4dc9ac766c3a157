// People who chat while others strain the host. Posts each of their turns; a fault ends the thread.
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { script } from '@mcp-host/testkit'
import type { BystanderSetup, BystanderTurn } from './bystanders.ts'
import { TimedChat } from './timed-chat.ts'

/** From the beginning of a turn to that of the next. */
const PERIOD_MS = 1_000
const [BEFORE, AFTER] = ['I call it. ', 'It has answered.']
const SAID = script(
  { text: BEFORE, calls: [{ name: 'test__echo', arguments: { text: 'hello' } }] },
  { text: AFTER },
)

const { url, sessions } = workerData as BystanderSetup

async function chatOn(index: number): Promise<never> {
  const chat = await TimedChat.open(url)
  await delay((index / sessions) * PERIOD_MS)
  for (;;) {
    const { at, firstText, turn, text } = await chat.ask(SAID)
    if (text !== BEFORE + AFTER) throw new Error(`a bystander was answered: ${text}`)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it goes to a thread, not to a window
    parentPort?.postMessage({ at, firstText, turn } satisfies BystanderTurn)
    await delay(Math.max(0, PERIOD_MS - turn))
  }
}

await Promise.all(Array.from({ length: sessions }, (_, index) => chatOn(index)))
