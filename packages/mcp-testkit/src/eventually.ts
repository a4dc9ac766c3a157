import { setTimeout as delay } from 'node:timers/promises'

/**
 * Polls `probe` until it returns a value other than false, null and undefined. The limit ends only tests that
 * fail anyway; it is long, because starting a process takes seconds on a busy machine.
 */
export async function eventually<Value>(
  probe: () => Value | Promise<Value>,
  limitMs = 20_000,
): Promise<NonNullable<Exclude<Value, false>>> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const value = await probe()
    if (value !== false && value !== null && value !== undefined) {
      return value as NonNullable<Exclude<Value, false>>
    }
    if (performance.now() > deadline)
      throw new Error(`not within ${limitMs} ms: ${probe.toString()}`)
    await delay(5)
  }
}
