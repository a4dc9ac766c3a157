import { AsyncLocalStorage } from 'node:async_hooks'

import type { CallStep, ServedCall } from './serve-call.ts'

const calls = new AsyncLocalStorage<ServedCall<unknown>>()

/** Lets servers in this process know the call that they work for. */
export const rememberCall: CallStep = (next) => (call) => calls.run(call, () => next(call))

/** The call that this code works for. Throws outside of calls whose steps include `rememberCall`. */
export function currentCall(): ServedCall<unknown> {
  const call = calls.getStore()
  if (call === undefined) throw new Error('this is possible within a tool call alone')
  return call
}
