import { MAX_TIMER_MS } from './time-limit.ts'

/** Whether a promise resolves within `limitMs`. Rejects when the promise does. */
export async function resolvesWithin(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), Math.min(limitMs, MAX_TIMER_MS))
  try {
    return await Promise.race([promise.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
