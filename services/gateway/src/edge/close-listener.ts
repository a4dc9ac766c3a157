import type { RequestListener, Server } from 'node:http'
import { setImmediate } from 'node:timers/promises'

/** The time in which the queue of a listener that is always busy is emptied; what is left then is reset. */
const LIMIT_MS = 500
/** A turn of the event loop in which hardly anything can have arrived after the look at the queue. */
const SHORT_TURN_MS = 0.1

/**
 * Closes the listener of a server, and resolves with the end of its connections. The kernel resets connections that wait
 * to be accepted, with requests that no proxy repeats, since it cannot know whether they were begun. So all are accepted
 * first. Requests are held meanwhile: clients that wait for an answer send nothing new, and the queue becomes empty.
 */
export async function closeListener(server: Server): Promise<{ readonly closed: Promise<void> }> {
  // Node.js types them as functions of any kind.
  const handlers = server.listeners('request') as RequestListener[]
  const held: Parameters<RequestListener>[] = []
  server.removeAllListeners('request').on('request', (...each) => held.push(each))
  await untilNoneWaits(server)
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.removeAllListeners('request')
  for (const handler of handlers) server.on('request', handler)
  for (const each of held) server.emit('request', ...each)
  return { closed }
}

/** Resolves right after a look at the queue that found it empty. */
async function untilNoneWaits(server: Server): Promise<void> {
  let accepted = 0
  const count = (): void => void accepted++
  server.on('connection', count)
  // The rest of this turn has no look at the queue.
  await setImmediate()
  const endsAt = performance.now() + LIMIT_MS
  for (let at = performance.now(); at < endsAt;) {
    const before = accepted
    // The event loop accepts one connection in each turn.
    await setImmediate()
    const turnMs = performance.now() - at
    at += turnMs
    if (accepted === before && turnMs < SHORT_TURN_MS) break
  }
  server.off('connection', count)
}
