import type { IncomingMessage } from 'node:http'
import { get } from 'node:http'
import { json } from 'node:stream/consumers'

/** The JSON that a service answers at a path, whatever its status. `fetch` would take 12 MB of this process. */
export async function askService(url: string, path: string, signal: AbortSignal): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  // Without an agent, since a kept connection may lead to the previous process.
  get(new URL(path, url), { agent: false, signal }, resolve).on('error', reject)
  return json(await promise)
}
