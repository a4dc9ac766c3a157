import type { Stack } from '@mcp-host/testkit'
import { eventually, script } from '@mcp-host/testkit'
import { cpuMs } from '../process-usage.ts'
import { quantile, quantiles } from '../quantile.ts'
import type { Strain } from './control-windows.ts'
import { DONE, RawSocket, textOf } from './raw-socket.ts'
import { now, TimedChat } from '../timed-chat.ts'

const SOCKETS = 1_000
/** Sockets that connect at once. */
const AT_ONCE = 50
const TOKENS_PER_SECOND = 50
const LIMIT_MS = 30_000

/** Streams one session to 1,000 sockets. */
export async function crowd(stack: Stack): Promise<Strain> {
  const sockets: RawSocket[] = []
  const lags: number[] = []
  const loads: number[] = []
  let asker: TimedChat | undefined
  let expected = ''
  return {
    async prepare() {
      asker = await TimedChat.open(stack.url)
      const { sessionId } = asker
      // A session exists from its first message on.
      await asker.ask(script({ text: 'hello' }))
      while (sockets.length < SOCKETS) {
        const next = Array.from({ length: AT_ONCE }, () => RawSocket.open(stack.url, sessionId))
        sockets.push(...(await Promise.all(next)))
      }
    },
    async run(windowMs) {
      const gateway = stack.pids()['gateway'] ?? 0
      const [begin, cpu] = [now(), cpuMs(gateway)]
      const tokens = Math.round((windowMs / 1_000) * TOKENS_PER_SECOND)
      const answer = await asker?.ask(script({ tokens, tokensPerSecond: TOKENS_PER_SECOND }))
      const end = now()
      expected = Array.from({ length: tokens }, (_, index) => `w${index} `).join('')
      if (answer?.text !== expected) throw new Error(`the asking client got: ${answer?.text}`)
      const isOver = (): boolean => sockets.every((each) => each.endsWith(DONE))
      await eventually(isOver, { what: 'the same answer for all', limitMs: LIMIT_MS })
      lags.push(now() - end)
      loads.push((cpuMs(gateway) - cpu) / (now() - begin))
    },
    async settle() {
      for (const socket of sockets.splice(0)) {
        const text = textOf(socket.frames())
        socket[Symbol.dispose]()
        if (text !== expected) throw new Error(`a socket got: ${text}`)
      }
      asker?.[Symbol.dispose]()
    },
    figures: () => ({
      gatewayCores: quantile(loads.slice(1), 0.5),
      lastSocketLagMs: quantiles(lags, 'p50', 'max'),
    }),
  }
}
