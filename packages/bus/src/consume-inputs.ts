import type { JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { LogEntry } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Broker } from './broker.ts'
import type { InputJobs, InputVerdict } from './bus.ts'
import type { OnUnreadable } from './log-entries.ts'
import { parseEntry } from './log-entries.ts'
import { ACK_WAIT_MS, INPUTS_CONSUMER, SESSIONS_STREAM } from './streams.ts'

/** The reply subject of a delivered message. */
const JOB = new RegExp(`^\\$JS\\.ACK\\.(\\S+\\.)?${SESSIONS_STREAM}\\.${INPUTS_CONSUMER}\\.\\S+$`)

export interface InputsDeps extends Pick<Broker, 'jetstream' | 'warn'> {
  readonly onUnreadable: OnUnreadable
}

export type InputHandler = (entry: LogEntry) => Promise<InputVerdict>

/** Takes inputs from the broker until disposed. */
export async function consumeInputs(deps: InputsDeps, handler: InputHandler): Promise<InputJobs> {
  const consumer = await deps.jetstream.consumers.get(SESSIONS_STREAM, INPUTS_CONSUMER)
  const held = new Set<string>()
  const messages = await consumer.consume({
    max_messages: 256,
    expires: 5_000,
    idle_heartbeat: 1_000,
    // Otherwise the client looks up the consumer when the broker is back, and pauses for 5 s after a failure.
    bind: true,
    callback: (message) => {
      // The client's type lacks the field.
      const { reply: job } = message as JsMsg & { readonly reply: string }
      held.add(job)
      void handleInput(deps, message, handler).finally(() => held.delete(job))
    },
  })
  return {
    held: () => Array.from(held),
    async [Symbol.asyncDispose]() {
      await messages.close()
    },
  }
}

/** Throws `invalid` for a malformed job, which another process sent. */
export function handBack(connection: NatsConnection, job: string): void {
  if (!JOB.test(job)) throw new BusError('invalid', `"${job}" is no job of the orchestrators`)
  if (!connection.isClosed()) connection.publish(job, '-NAK')
}

/** Never rejects. */
async function handleInput(
  { warn, onUnreadable }: InputsDeps,
  message: JsMsg,
  handler: InputHandler,
): Promise<void> {
  const { subject, seq, data, headers } = message
  const time = Math.floor(message.info.timestampNanos / 1e6)
  const entry = parseEntry({ subject, seq, time, data, headers }, onUnreadable)
  // An unreadable message must not be redelivered.
  if (entry === undefined || entry.kind === 'unreadable') return message.term('not readable')
  // The timer of a handler that outlasts the bus does not keep the process alive.
  const working = setInterval(() => message.working(), ACK_WAIT_MS / 3).unref()
  let verdict: InputVerdict
  try {
    verdict = await handler(entry)
  } catch (error) {
    warn(error, 'handle input')
    verdict = { retryMs: 1_000 }
  } finally {
    clearInterval(working)
  }
  if (verdict === 'done') message.ack()
  else message.nak(verdict.retryMs)
}
