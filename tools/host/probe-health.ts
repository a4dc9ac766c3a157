import { z } from 'zod'
import { askService } from './ask-service.ts'
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
    const answer = Answer.parse(await askService(url, '/health', signal))
    return answer.pid === pid ? { isStopping: answer.stopping === true } : undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return undefined
    throw error
  }
}
