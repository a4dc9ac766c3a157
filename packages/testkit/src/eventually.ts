import { setTimeout as delay } from 'node:timers/promises'

/** Polls `probe` until it returns a value other than `undefined` or `false`. Throws after `limitMs`. */
export async function eventually<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { limitMs = 20_000, what = 'it' }: { limitMs?: number; what?: string } = {},
): Promise<T> {
  const giveUpAt = Date.now() + limitMs
  for (;;) {
    const answer = await probe()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > giveUpAt) throw new Error(`${what} did not happen within ${limitMs} ms`)
    await delay(10)
  }
}
