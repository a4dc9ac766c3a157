import type { IncomingMessage } from 'node:http'
import { get } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import type { Health } from './watch-health.ts'

const Answer = z.object({ pid: z.number(), stopping: z.boolean().optional() })

/**
 * The answer of a process at `/health`. `undefined`: it does not listen, or another process with the same port
 * answered. Rejects without an answer.
 */
export async function probeHealth(
  { url, pid }: { readonly url: string; readonly pid: number },
  signal: AbortSignal,
): Promise<Health | undefined> {
  try {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    // Without an agent, since a kept connection may lead to the previous process.
    get(new URL('/health', url), { agent: false, signal }, resolve).on('error', reject)
    const answer = Answer.parse(await json(await promise))
    return answer.pid === pid ? { isStopping: answer.stopping === true } : undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return undefined
    throw error
  }
}
