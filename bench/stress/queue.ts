import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, eventually, script } from '@mcp-host/testkit'
import { quantiles } from '../quantile.ts'
import type { Strain } from './control-windows.ts'
import type { Frame } from '../timed-chat.ts'
import { now } from '../timed-chat.ts'

const MESSAGES = 200
const CANCELLED = 120
const IDS = Array.from({ length: MESSAGES }, (_, index) => `m${index}`)

/** Sends 200 messages at once to one session, and cancels one of them while it waits. */
export async function longQueue(stack: Stack): Promise<Strain> {
  const perTurn: number[] = []
  const accepted: number[] = []
  return {
    async run() {
      using chat = await ChatSocket.open(stack)
      const begin = now()
      for (const id of IDS) chat.say(script({ text: `${id} ` }), id)
      chat.send({ type: 'cancel', payload: { messageId: IDS[CANCELLED] } })
      await eventually(() => count(chat.frames, 'accepted') > MESSAGES, { what: 'all accepted' })
      accepted.push(now() - begin)
      await chat.turnsDone(MESSAGES)
      perTurn.push((now() - begin) / MESSAGES)
      const isEmpty = (): boolean => waiting(chat.frames).at(-1)?.length === 0
      await eventually(isEmpty, { what: 'an empty queue' })
      check(chat.frames)
    },
    figures: () => ({
      allAcceptedMs: quantiles(accepted, 'p50', 'max'),
      perTurnMs: quantiles(perTurn, 'p50', 'max'),
    }),
  }
}

/** Throws when an answer is wrong or out of order, or when a frame shows a wrong queue. */
function check(frames: readonly Frame[]): void {
  const log: string[] = []
  let begun = 0
  let left: readonly string[] | undefined
  for (const frame of frames) {
    if (frame.type === 'error') log.push(`error: ${frame.payload.message}`)
    else if (frame.type === 'text') log.push(frame.payload.content.trim())
    else if (frame.type === 'turn' && frame.payload.state === 'started') begun++
    else if (frame.type === 'turn' && frame.payload.state === 'done') {
      log.push(`${frame.payload.messageId} ${frame.payload.outcome}`)
    } else if (frame.type === 'queue') {
      const ids = frame.payload.messages.map(({ messageId }) => messageId)
      const isNumbered = frame.payload.messages.every(({ position }, at) => position === at + 1)
      // The queue is a prefix of the messages whose turn has not begun, in order.
      const first = IDS.indexOf(ids[0] ?? '')
      const rest = IDS.slice(first, first + ids.length + 1).filter((id) => ids.includes(id))
      if (!isNumbered || ids.join() !== rest.join() || (ids.length > 0 && first < begun)) {
        throw new Error(`with ${begun} turns begun the queue was ${ids.join()}`)
      }
      left = ids
    }
  }
  const expected = IDS.flatMap((id, index) =>
    index === CANCELLED ? [`${id} cancelled`] : [id, `${id} completed`],
  )
  if (log.join() !== expected.join()) throw new Error(`the answers were ${log.join()}`)
  const queues = waiting(frames)
  const last = queues.findLastIndex((ids) => ids.includes(IDS[CANCELLED] ?? ''))
  const next = queues[last + 1]?.[0] ?? ''
  if (left?.length !== 0 || IDS.indexOf(next) > CANCELLED) {
    throw new Error('the cancelled message waited until its turn')
  }
}

function waiting(frames: readonly Frame[]): string[][] {
  return frames.flatMap((frame) =>
    frame.type === 'queue' ? [frame.payload.messages.map(({ messageId }) => messageId)] : [],
  )
}

function count(frames: readonly Frame[], type: Frame['type']): number {
  return frames.filter((frame) => frame.type === type).length
}
