import type { Clock } from '@mcp-host/bus'

/**
 * Sets the `Date` of this process by the clock of nats-server. The libraries of logins and tokens read no other clock,
 * and what one gateway issues is judged by another one.
 */
export function setDate(clock: Pick<Clock, 'now'>): void {
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [clock.now()] : args, newTarget) as Date,
  })
  Date.now = () => clock.now()
}
